"""What a person does before Gradio has loaded is done when it has; what was never opened was never sent."""

import re
from urllib.parse import quote_plus

import pytest

from explorer.server import ahead
from tests.benchmarks.responses import SHIFTS
from tests.browser.expecting import expect
from tests.browser.steps import at, held, settled
from tests.tabs import opened_tab, ways_to

SLOW = "*/assets/Blocks-*.js"  # without it Gradio shows nothing
HOSTILE = "<img src=x onerror=alert(1)> ${alert(1)} {{alert(1)}}"
PLACES = """(all) => Object.fromEntries([...document.querySelectorAll(all)].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [one.dataset.of ?? one.id, [x, y, width, height]];
}))"""


def choose(page, label):
    """Click the way to a tab in the first page."""
    for name in ways_to(label):
        page.locator("#first [role=tab]:visible", has_text=re.compile(f"^{re.escape(name)}")).first.click()


def delayed(page, served, query=""):
    """The first page: Gradio's part of it waits until the returned function is called."""
    devtools = page.context.new_cdp_session(page)  # page.route would also take away what the browser has compiled before
    devtools.send("Fetch.enable", {"patterns": [{"urlPattern": SLOW}]})
    page.goto(f"{served}{query}", wait_until="commit")
    expect(page.locator("#first h2").first).to_be_attached()
    return lambda: devtools.send("Fetch.disable")  # which lets go what is held


def replaced(page):
    """Wait until the page itself is seen."""
    expect(page.locator("#first")).to_have_count(0)


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 720, "light"), (420, 850, "dark")])
def test_the_first_page_is_complete_and_nothing_moves_when_the_real_one_replaces_it(new_page, served, width, height, scheme):
    page = new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.add_init_script(SHIFTS)
    go_on = delayed(page, served)
    expect(page.locator("#first .bx-flow-lines path[data-route]").first).to_be_attached()
    expect(page.locator("#first [data-of=strip] .bx-token").first).to_have_text("[CLS]")
    expect(page.locator("#first [data-of=overview-finding]")).to_contain_text("tokyo")
    before = page.evaluate(PLACES, "#first [data-of]")
    dark = page.evaluate("() => getComputedStyle(document.querySelector('#first')).backgroundColor")
    go_on()
    replaced(page)
    settled(page)
    after = page.evaluate(PLACES, "gradio-app [id]")
    seen = {name: place for name, place in before.items() if place[2] and place[3]}
    assert len(seen) > 15
    for name, place in seen.items():
        assert after[name] == pytest.approx(place, abs=1), name
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == dark
    assert page.evaluate("() => window.shift") <= 0.01


def test_a_tab_that_is_opened_at_once_by_keys_is_shown_at_once_and_is_open_in_the_page(page, served, monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE", 60)  # the machine may be busy
    go_on = delayed(page, served)
    page.locator("#first [role=tab]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#first h2:visible")).to_contain_text("What does BERT read?")
    expect(page.locator("#first .bx-flow-box")).to_have_count(0)
    expect(page.locator("#first .bx-cards .bx-token").first).to_be_visible()
    go_on()
    replaced(page)
    expect(page.locator("#tabs .bx-cards .bx-token").first).to_be_visible()
    expect(opened_tab(page)).to_have_text("Tokens")
    expect(page.get_by_role("tab", name="Tokens")).to_be_focused()


def test_what_is_typed_at_once_is_read_as_text(page, served):
    go_on = delayed(page, served)
    page.locator("#first textarea").nth(1).fill("")
    page.locator("#first textarea").nth(0).fill(f"Dogs {HOSTILE}")
    choose(page, "Tokens")
    expect(page.locator("#first img")).to_have_count(0)
    go_on()
    expect(page.locator("#tabs .bx-cards")).to_contain_text("dogs")
    expect(page.locator("gradio-app #strip")).to_contain_text("dogs")
    expect(page.locator("#text-a textarea")).to_have_value(f"Dogs {HOSTILE}")


def test_a_word_that_is_clicked_at_once_is_chosen_in_the_page(page, served):
    go_on = delayed(page, served)
    page.locator("#first [data-of=strip] .bx-token").nth(2).click()
    go_on()
    expect(page.locator("gradio-app #strip .bx-token").nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("gradio-app #overview-finding")).to_contain_text("capital")


def test_a_link_shows_its_view_at_once_and_nothing_moves_when_the_page_replaces_it(page, served, monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE", 60)  # the machine may be busy
    page.add_init_script(SHIFTS)
    go_on = delayed(page, served, at("Attention", f"?a={quote_plus(HOSTILE)}+drinks."))
    first = page.locator("#first")
    expect(first.locator("[data-of=attention-heads-grid] canvas").first).to_be_visible()
    expect(first.locator("[data-of=attention-finding]")).not_to_be_empty()
    expect(first.locator("img")).to_have_count(0)
    before = page.evaluate(PLACES, "#first [data-of=strip], #first [data-of^=attention-]")
    go_on()
    replaced(page)
    settled(page)
    expect(opened_tab(page)).to_have_text("Attention")
    expect(page.locator("#attention-heads-grid canvas").first).to_be_visible()
    after = page.evaluate(PLACES, "gradio-app [id]")
    for name in ("strip", "attention-heads-grid", "attention-head-title"):
        assert after[name] == pytest.approx(before[name], abs=3), name
    assert page.evaluate("() => window.shift") <= 0.02


def test_a_page_that_is_only_looked_at_asks_for_nothing_more_and_has_no_other_tab(page, served):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served)
    expect(page.locator("gradio-app #overview-routes-picture .bx-flow-box").first).to_be_visible()
    settled(page)
    joined = [url for url in asked if "queue/join" in url]
    assert len(joined) <= 2, "one for the models that this browser opened last, and one that keeps the stream of answers open"
    sent = page.evaluate("() => window.gradio_config.components.map((one) => one.props.elem_id)")
    assert "overview-routes-picture" in sent
    assert not [one for one in sent if str(one).startswith(("attention-", "fill-mask-", "corpus-", "fine-tune-"))]


def test_what_is_typed_while_a_link_is_followed_stays_and_is_drawn(page, served):
    with held(page):
        page.goto(f"{served}{at('Fill-mask', '?a=Cats+drink+%5BMASK%5D.')}")
        box = page.locator("#first textarea").first
        expect(box).to_have_value("Cats drink [MASK].")
        expect(page.locator("#first textarea").nth(1)).to_have_value("")
        box.click()
        box.press("Home")
        page.keyboard.type("Big ")
    expect(page.locator("#strip .bx-token")).to_have_text(["[CLS]", "big", "cats", "drink", "[MASK]", ".", "[SEP]"])
    expect(page.locator("#fill-mask-finding")).not_to_be_empty()
    settled(page)
    expect(page.locator("#text-a textarea")).to_have_value("Big Cats drink [MASK].")
    expect(opened_tab(page)).to_have_text("Fill-mask")
    expect(page).to_have_url(re.compile(r"a=Big\+Cats"))


def test_what_is_typed_while_the_page_goes_to_another_place_stays(page, served):
    page.goto(f"{served}?a=Cats+drink+milk.")
    expect(page.locator("#strip .bx-token", has_text="milk")).to_be_visible()
    settled(page)
    with held(page):
        page.evaluate("BertExplorer.link.visit('tab=tokens&a=Dogs+bark.&b=They+do.')")
        page.locator("#text-a textarea").fill("Birds sing.")
    expect(page.locator("#tabs .bx-cards")).to_contain_text("sing")
    expect(page.locator("#tabs .bx-cards")).to_contain_text("they")
    settled(page)
    expect(page.locator("#text-a textarea")).to_have_value("Birds sing.")
    expect(page.locator("#text-b textarea")).to_have_value("They do.")
    expect(page).to_have_url(re.compile(r"tab=tokens&view=pieces&a=Birds"))
