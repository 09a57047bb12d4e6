"""The page as a person uses it: typing, sections, what it may run, models, two people at once."""

import re

from explorer.server import bounds
from explorer.tabs import SECTIONS
from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.families import TUNED, write_family, write_tuned
from tests.hub import REPO
from tests.tabs import open_tab, opened_tab

BUNDLED = "bert-l6-h384-uncased"


def choose(page, name):
    box = page.locator("#model-box input")
    box.fill(name)
    box.press("Enter")


def test_a_link_that_makes_no_sense_opens_the_page(page, served):
    for query in ("?a=%00%07&layer=²&head=0&token=-1&tab=nowhere", "?a=" + "x" * 9_000):
        page.goto(f"{served}/{query}")
        expect(page.locator("#strip .bx-token, #notice .bx-error, #notice [role=alert]").first).to_be_visible()


def test_a_model_that_is_not_there_leaves_the_one_in_use(open_app):
    page = open_app()
    choose(page, "no-such-owner/no-such-model")
    expect(page.locator("#notice")).to_contain_text(f"{BUNDLED} stays")
    settled(page)  # nothing that comes after it may clear it
    expect(page.locator("#notice")).to_contain_text(f"{BUNDLED} stays")
    expect(page.locator("#model-box input")).to_have_value(BUNDLED)
    expect(chips(page).first).to_be_visible()


def test_a_model_without_heads_says_why_and_offers_one_that_can(open_app, variant_folders):
    page = open_app()
    choose(page, str(variant_folders["encoder_only"]))
    open_tab(page, "Fill-mask")
    expect(page.get_by_text(re.compile("has no masked-language-model head"))).to_be_visible()
    page.get_by_role("button", name="Use the bundled model").locator("visible=true").click()
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]").first).to_be_visible()
    expect(page.locator("#model-box input")).to_have_value(BUNDLED)


def test_two_people_do_not_see_each_others_words(new_page, served):
    first, second = new_page(), new_page()
    for page in (first, second):
        page.goto(served)
        expect(chips(page).first).to_be_visible()
    first.locator("#text-a textarea").fill("elephant")
    expect(chips(first).nth(1)).to_have_text("elephant")
    second.locator("#text-a textarea").fill("public")
    expect(chips(second).nth(1)).to_have_text("public")
    open_tab(first, "Tokens")
    expect(first.locator("#tokens-pieces-cards .bx-token").nth(1)).to_have_text("elephant")
    assert "elephant" not in second.content()


def test_a_section_shows_its_tabs_only_and_remembers_which_was_open(open_app):
    page = open_app()
    expect(page.locator("#sections [role=tab]")).to_have_text(list(SECTIONS))
    expect(page.locator("#tabs [role=tab]:visible")).to_have_count(0)  # the Overview has none beside it
    open_tab(page, "Attention")
    expect(page.locator("#tabs [role=tab]:visible")).to_have_text([tab.label for tab in SECTIONS["Look inside"]])
    where = page.get_by_role("tab", name="Predict", exact=True).bounding_box()
    page.get_by_role("tab", name="Predict", exact=True).click()
    expect(opened_tab(page)).to_have_text("Fill-mask")
    assert page.get_by_role("tab", name="Predict", exact=True).bounding_box() == where
    page.get_by_role("tab", name="Look inside", exact=True).click()
    expect(opened_tab(page)).to_have_text("Attention")


INJECTED = (
    """box.innerHTML = '<img src="data:," onerror="window.ran = true">'""",
    """box.innerHTML = '<a href="javascript:window.ran = true">a</a>'; box.firstChild.click()""",
    """box.appendChild(document.createElement('script')).textContent = 'window.ran = true'""",
    """box.appendChild(document.createElement('script')).src = 'http://127.0.0.1:9/a.js'""",
    """box.innerHTML = '<iframe srcdoc="<script>top.ran = true</script>"></iframe>'""",
)


def test_nothing_runs_that_gets_into_the_page(open_app):
    """What is typed is text: test_components.py."""
    page = open_app()
    for injection in INJECTED:
        with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            page.evaluate(f"() => {{ const box = document.body.appendChild(document.createElement('div')); {injection}; }}")
    assert page.evaluate("window.ran") is None
    assert all("Content Security Policy" in problem for problem in page.problems)
    page.problems.clear()


def test_who_guesses_too_often_reads_why_nothing_happens(locked, new_page, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_LOGINS", 1)
    page = new_page(extra_http_headers={"X-Forwarded-For": "203.0.113.200"})
    page.goto(locked)
    expect(page.get_by_label("username")).to_be_visible()
    for told in ("Incorrect Credentials", bounds.TOO_MANY_LOGINS):
        page.get_by_label("username").fill("teacher")
        page.get_by_label("password").fill("wrong")
        page.get_by_role("button", name="Login").click()
        expect(page.get_by_text(told)).to_be_visible()
    page.problems.clear()  # the browser tells of each answer that refuses


def test_a_link_opens_a_tuned_checkpoint_at_its_own_head(open_app, tmp_path):
    folder = write_tuned(tmp_path / "model", "bert", TUNED[0])
    page = open_app(f"?model={folder}&a=the+man+went&tab=own-head")
    expect(page.locator("#own-head-labels-verdict")).to_contain_text("calm")
    expect(page.locator("#own-head-labels-check")).to_contain_text("✓")
    page.get_by_role("tab", name="Fill-mask", exact=True).click()
    expect(page.locator("#fill-mask-hint")).to_contain_text("has no masked-language-model head")


def test_a_download_is_seen_stopped_and_goes_on_later(open_app, hub, tiny_folder):
    page = open_app()
    hub.put(REPO, tiny_folder)
    hub.pause = 0.5
    choose(page, REPO)
    under_way = page.locator("#under-way")
    expect(under_way).to_contain_text(re.compile(r"fetching .* MB"))
    under_way.get_by_role("button", name="Stop").click()
    expect(page.locator("#notice")).to_contain_text(f"Stopped. The downloaded part is kept, and {BUNDLED} stays.")
    expect(under_way).to_be_hidden()
    expect(page.locator("#model-box input")).to_have_value(BUNDLED)
    expect(chips(page).first).to_be_visible()
    hub.pause = 0
    choose(page, REPO)
    expect(page.locator("#model-box input")).to_have_value(REPO)
    expect(page.locator("#notice")).not_to_contain_text("Stopped")
    expect(under_way).to_be_hidden()


def test_what_was_opened_last_is_in_the_list_of_another_page(open_app, served, tmp_path):
    folder = write_family(tmp_path / "roberta", "roberta")
    page = open_app()
    choose(page, str(folder))
    expect(chips(page).first).to_have_text("<s>")
    settled(page)
    page.goto(served)
    expect(chips(page).first).to_have_text("[CLS]")
    page.locator("#model-box input").click()
    option = page.get_by_role("option").filter(has_text=str(folder))
    expect(option).to_have_attribute("aria-description", re.compile(r"^\d+ MB, a masked-LM head$"))
    option.click()
    expect(chips(page).first).to_have_text("<s>")
