"""What a person does before Gradio has loaded is done when it has; what was never opened was never sent."""

import re

import pytest

from explorer.tabs import TABS
from tests.benchmarks.responses import SHIFTS
from tests.browser.expecting import expect
from tests.browser.steps import at, settled
from tests.tabs import open_tab, opened_tab, ways_to

SLOW = "*/assets/Blocks-*.js"  # without it Gradio shows nothing
PICTURE = "gradio-app #overview-routes-picture"
HOSTILE = "<img src=x onerror=alert(1)> ${alert(1)} {{alert(1)}}"
WATCH_FOR_A_GAP = """(name) => {
  window.frames = window.gaps = 0;
  const look = () => {
    const there = [...document.querySelectorAll(`#first [data-of=${name}] p, gradio-app #${name} p`)];
    window.frames += 1;
    window.gaps += !there.some((one) => one.textContent && one.checkVisibility({ visibilityProperty: true }));
    requestAnimationFrame(look);
  };
  look();
}"""


def open_painted(page, label):
    """Click the way to a tab in the page as it is painted first."""
    for name in ways_to(label):
        page.locator("#first .bx-first-tabs button:visible", has_text=re.compile(f"^{re.escape(name)}$")).first.click()


def delayed(page, served):
    """The page as it is painted first: Gradio's part of it waits until the returned function is called."""
    devtools = page.context.new_cdp_session(page)  # page.route would also take away what the browser has compiled before
    devtools.send("Fetch.enable", {"patterns": [{"urlPattern": SLOW}]})
    page.goto(served, wait_until="commit")
    expect(page.locator("#first .bx-token").first).to_be_visible()
    return lambda: devtools.send("Fetch.disable")  # which lets go what is held


def test_a_tab_that_is_clicked_at_once_shows_what_it_opens_with_and_keeps_showing_it(page, served):
    page.add_init_script(SHIFTS)
    go_on = delayed(page, served)
    open_painted(page, "Tokens")
    painted = page.locator("#first .bx-painted")
    expect(painted.locator("[data-of=tokens-finding]")).to_contain_text("“skyscraper”, “##s”")
    expect(painted.locator(".bx-cards .bx-token")).to_have_count(page.locator("#first [data-of=strip] .bx-token").count())
    expect(page.locator("#first > h2")).to_be_hidden()
    page.evaluate(WATCH_FOR_A_GAP, "tokens-finding")
    go_on()
    expect(page.locator("#tabs .bx-cards .bx-token").first).to_be_visible()
    expect(page.locator("#first")).to_have_count(0)
    expect(opened_tab(page)).to_have_text("Tokens")
    expect(page.get_by_role("tab", name="Tokens")).to_be_focused()
    expect(page.locator("#tokens-finding")).to_contain_text("“skyscraper”, “##s”")
    frames, gaps, shift = page.evaluate("() => [window.frames, window.gaps, window.shift]")
    assert frames > 1
    assert gaps == 0, "the sentence was there all the time"
    assert shift <= 0.02


@pytest.mark.nightly
def test_every_tab_that_is_clicked_at_once_shows_its_question(page, served):
    delayed(page, served)
    for tab in [tab for tab in TABS[1:] if not tab.optional]:
        open_painted(page, tab.label)
        expect(page.locator(f"#first [data-of={tab.id}-question]")).to_have_text(tab.question)
        expect(page.locator("#first .bx-painted")).to_have_count(1)
    open_painted(page, TABS[0].label)
    expect(page.locator("#first .bx-painted")).to_have_count(0)
    expect(page.locator("#first > h2")).to_have_text(TABS[0].question)


@pytest.mark.nightly
def test_what_stands_in_a_painted_tab_stands_where_the_page_has_it(page, served):
    go_on = delayed(page, served)
    open_painted(page, "Attention")
    names = ("attention-view", "attention-finding", "attention-heads-grid", "attention-head-title", "attention-head-heatmap")
    expect(page.locator("#first [data-of=attention-heads-grid] canvas").first).to_be_visible()
    painted = [page.locator(f"#first [data-of={name}]").bounding_box() for name in names]
    go_on()
    expect(page.locator("#first")).to_have_count(0)
    settled(page)
    for name, box in zip(names, painted, strict=True):
        assert page.locator(f"#{name}").bounding_box() == pytest.approx(box, abs=4), name


@pytest.mark.nightly
def test_what_is_chosen_in_a_painted_tab_is_chosen_in_the_page(page, served):
    go_on = delayed(page, served)
    open_painted(page, "Attention")
    page.locator("#first [data-of=attention-heads-grid] button").nth(13).click()
    go_on()
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 2, head 2")
    expect(page.locator("#first")).to_have_count(0)


def test_a_painted_tab_is_opened_by_keys_is_about_what_was_typed_and_takes_it_for_text(page, served):
    go_on = delayed(page, served)
    page.locator("#first textarea").nth(1).fill("")
    page.locator("#first textarea").nth(0).fill(f"Cats {HOSTILE}")
    page.locator("#first [role=tab]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Tokens")).to_contain_text("What does BERT read?")
    pieces = page.locator("#first .bx-painted .bx-cards")
    expect(pieces).to_contain_text("cats")
    expect(pieces).to_contain_text("alert")
    page.locator("#first textarea").nth(0).fill(f"Dogs {HOSTILE}")
    expect(pieces).to_contain_text("dogs")
    expect(page.locator("#first img")).to_have_count(0)
    go_on()
    expect(page.locator("#tabs .bx-cards")).to_contain_text("dogs")
    expect(page.locator("#text-a textarea")).to_have_value(f"Dogs {HOSTILE}")


def test_a_word_and_a_layer_that_are_clicked_at_once_are_not_lost(page, served):
    go_on = delayed(page, served)
    page.locator("#first [data-of=strip] .bx-token").nth(2).click()
    page.locator("#first .bx-flow-title", has_text="layer 4").click()
    go_on()
    expect(page.locator("#strip .bx-token").nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("region", name="inside layer 4")).to_be_visible()


def test_on_a_phone_the_painted_picture_stands_where_the_page_s_own_will(new_page, served):
    page = new_page(viewport={"width": 420, "height": 900})
    go_on = delayed(page, served)
    box = ".bx-flow-box[aria-pressed=true]"
    painted = page.locator(f"#first {box}").bounding_box()
    go_on()
    expect(page.locator("#first")).to_have_count(0)
    settled(page)
    assert page.locator(f"{PICTURE} {box}").bounding_box() == pytest.approx(painted, abs=4)


@pytest.mark.nightly
def test_a_story_that_is_started_at_once_goes_on(page, served):
    go_on = delayed(page, served)
    page.locator("#first .bx-flow-play").click()
    page.locator("#first [data-stop='2']").click()
    expect(page.locator("#first .bx-told")).to_contain_text("In layer 1, 12 heads")
    expect(page.locator("#first button.bx-open")).to_have_text("Overview")
    go_on()
    expect(page.locator("#first")).to_have_count(0)
    expect(page.locator(f"{PICTURE} .bx-told")).to_contain_text("In layer 1, 12 heads")


def test_a_page_that_is_only_looked_at_asks_for_nothing_more_and_has_no_other_tab(page, served):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served)
    expect(page.locator(f"{PICTURE} .bx-flow-box").first).to_be_visible()
    settled(page)
    joined = [url for url in asked if "queue/join" in url]
    assert len(joined) <= 2, "one for the models that this browser opened last, and one that keeps the stream of answers open"
    sent = page.evaluate("() => window.gradio_config.components.map((one) => one.props.elem_id)")
    assert "overview-routes-picture" in sent
    assert not [one for one in sent if str(one).startswith(("attention-", "fill-mask-", "corpus-", "fine-tune-"))]


def held(page):
    """Lets no call reach the server; the returned function lets all go on."""
    waiting, free = [], []
    page.route("**/queue/join*", lambda route: route.continue_() if free else waiting.append(route))

    def go_on():
        free.append(True)
        page.wait_for_timeout(100)  # the last request that is held may be under way
        for route in waiting:
            route.continue_()

    return go_on


def test_what_is_typed_while_a_link_is_followed_stays_and_is_drawn(page, served):
    go_on, box = held(page), page.locator("#text-a textarea")
    page.goto(f"{served}{at('Fill-mask', '?a=Cats+drink+%5BMASK%5D.')}")
    expect(box).to_have_value("Cats drink [MASK].")
    expect(page.locator("#text-b textarea")).to_have_value("")
    box.click()  # waits until the page is seen: what is hidden takes no keys
    box.press("Home")
    page.keyboard.type("Big ")
    go_on()
    expect(page.locator("#strip .bx-token")).to_have_text(["[CLS]", "big", "cats", "drink", "[MASK]", ".", "[SEP]"])
    expect(page.locator("#fill-mask-finding")).not_to_be_empty()
    settled(page)
    expect(box).to_have_value("Big Cats drink [MASK].")
    expect(opened_tab(page)).to_have_text("Fill-mask")
    expect(page).to_have_url(re.compile(r"a=Big\+Cats"))


def test_what_is_typed_while_the_page_goes_to_another_place_stays(page, served):
    page.goto(f"{served}?a=Cats+drink+milk.")
    expect(page.locator("#strip .bx-token", has_text="milk")).to_be_visible()
    settled(page)
    go_on = held(page)
    page.evaluate("BertExplorer.link.visit('tab=tokens&a=Dogs+bark.&b=They+do.')")
    page.locator("#text-a textarea").fill("Birds sing.")
    go_on()
    expect(page.locator("#tabs .bx-cards")).to_contain_text("sing")
    expect(page.locator("#tabs .bx-cards")).to_contain_text("they")
    settled(page)
    expect(page.locator("#text-a textarea")).to_have_value("Birds sing.")
    expect(page.locator("#text-b textarea")).to_have_value("They do.")
    expect(page).to_have_url(re.compile(r"tab=tokens&view=pieces&a=Birds"))


def test_a_page_that_is_opened_before_the_model_is_loaded_says_so_until_the_tokens_are_there(page, served):
    page.route("**/healthz", lambda route: route.fulfill(json={"status": "ok", "model": "loading"}))
    go_on = held(page)
    with page.expect_response("**/healthz"):
        page.goto(f"{served}?a=Cats+drink+milk.&tab=tokens")  # as every page that a link opens, it is sent without values
    said = page.locator("#strip").get_by_role("status")
    expect(said).to_have_text("The model is being loaded, which takes a few seconds …")
    expect(page.locator("gradio-app #overview-routes-picture")).to_be_hidden()
    go_on()
    expect(page.locator("#strip .bx-token", has_text="cats")).to_be_visible()
    expect(said).to_have_count(0)
    page.wait_for_function("() => !document.body.dataset.busy && !document.querySelector('.view[data-waiting]')")


@pytest.mark.nightly
def test_a_link_to_no_text_shows_its_tab_and_says_what_to_do(page, served):
    page.goto(f"{served}?a=&tab=attention")
    expect(page.locator("#notice")).to_contain_text("Text A is empty; type a sentence")
    expect(opened_tab(page)).to_have_text("Attention")
    page.locator("#text-a textarea").fill("Cats drink milk.")
    expect(page.locator("#strip .bx-token", has_text="cats")).to_be_visible()
    expect(page.locator("#attention-heads-grid canvas").first).to_be_visible()
    settled(page)


def test_going_from_tab_to_tab_quickly_ends_in_the_last(page, served):
    page.goto(served)
    expect(page.locator(f"{PICTURE} .bx-flow-box").first).to_be_visible()
    for name in ("Tokens", "Fill-mask"):
        open_tab(page, name)
    expect(page.locator("#fill-mask-finding")).to_contain_text("tokyo")
    page.get_by_label("Lens", exact=True).click()
    page.get_by_label("Guesses", exact=True).click()
    page.get_by_label("Attribution", exact=True).click()
    settled(page)
    expect(page.locator("#fill-mask-finding")).to_be_visible()
    page.locator("#text-b textarea").fill("It is in the north.")
    expect(page.locator("#strip .bx-token", has_text="north")).to_be_visible()
    expect(page.locator("#tabs [role=tabpanel]:visible")).to_contain_text("north")
