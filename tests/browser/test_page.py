"""The page as a person uses it: typing, choosing, links, models, two people at once."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import chips, settled, type_into
from tests.tabs import LABELS, open_tab, opened_tab


def test_the_first_view_is_filled_in_and_computed(open_app):
    page = open_app()
    rows = chips(page).count()
    expect(page.locator("#overview-routes-picture .bx-flow-box")).to_have_count(rows * 7)
    expect(page.locator("#overview-routes-picture .bx-flow-lines path[data-route]").first).to_be_attached()
    expect(page.locator("#overview-routes-picture .bx-flow-output")).to_contain_text(["IsNext", "tokyo"])
    expect(page.get_by_text("✓ matches the model")).to_be_attached()


def test_what_is_deleted_or_pasted_counts_too(open_app):
    page = open_app()
    box = page.locator("#text-a textarea")
    box.fill("One two three")
    expect(chips(page).nth(3)).to_have_text("three")
    box.press("End")
    for _ in range(6):
        box.press("Backspace")
    expect(chips(page).nth(3)).to_have_text("[SEP]")


@pytest.mark.parametrize(("tab", "proof"), [("overview", "#overview-routes-check"), ("attention", "#attention-head-check")])
def test_an_emptied_input_is_told_and_leaves_no_proof_standing(open_app, tab, proof):
    page = open_app(f"?tab={tab}")
    page.locator(".how-toggle:visible").first.click()
    expect(page.locator(proof)).to_be_visible()
    page.locator("#text-a textarea").fill("")
    expect(page.locator("#notice")).to_contain_text("Text A is empty; type a sentence.")
    expect(chips(page)).to_have_count(0)
    expect(page.locator(proof)).to_be_hidden()
    type_into(page, "text-a", "back again")
    expect(page.locator(proof)).to_be_visible()
    expect(page.locator("#notice")).not_to_contain_text("empty")
    page.locator(".how-toggle:visible").first.click()


def test_a_text_that_is_too_long_is_told_and_one_of_731_tokens_is_cut(open_app):
    page = open_app()
    page.locator("#text-a textarea").fill("word " * 20_000)
    expect(page.locator("#notice")).to_contain_text("100,000 characters; shorten it")
    page.locator("#text-b textarea").fill("")
    page.locator("#text-a textarea").fill("word " * 729)
    expect(page.locator("#notice")).to_contain_text("512 of 731 tokens kept")
    expect(chips(page)).to_have_count(512)


ODD = ("<img src=x onerror=alert(1)> ${alert(1)} {{value}} `${alert(1)}`", "مرحبا بالعالم 🍎 \x07 \u200f x")


def test_odd_texts_do_nothing_but_show(open_app):
    page = open_app()
    for number, text in enumerate(ODD):
        page.locator("#text-a textarea").fill(text)
        page.locator("#text-b textarea").fill(f"seen {number}")
        expect(chips(page).nth(-2)).to_have_text(str(number))
        for tab in ("Overview", "Tokens", "Hidden states", "Fill-mask", "Next sentence"):
            open_tab(page, tab)
            expect(opened_tab(page)).to_have_text(tab)
            settled(page)
        expect(chips(page).nth(-2)).to_have_text(str(number))


def test_a_menu_that_is_only_looked_at_changes_nothing(open_app):
    page = open_app()
    page.locator("#examples input").click()
    page.get_by_role("option", name="Two strangers").click()
    expect(chips(page).filter(has_text="saturn")).to_be_visible()
    page.locator("#text-a textarea").fill("My own words.")
    expect(chips(page).nth(1)).to_have_text("my")
    page.locator("#examples input").click()
    expect(page.get_by_role("option", name="Two strangers")).to_be_visible()
    page.locator("#text-b textarea").fill("And more of them.")
    expect(chips(page).filter(has_text="more")).to_be_visible()
    expect(page.locator("#text-a textarea")).to_have_value("My own words.")
    page.locator("#examples input").click()
    page.get_by_role("option", name="Two strangers").click()
    expect(page.locator("#text-a textarea")).to_have_value("We ran out of flour this morning.")


def test_the_last_of_quick_clicks_is_shown(open_app):
    page = open_app("?tab=tokens&view=what-is-added-up")
    expect(page.get_by_text("+ position: ")).to_be_visible()
    for token in (1, 2, 3, 4, 5):
        chips(page).nth(token).click()
    expect(page.get_by_text("+ position: 5")).to_be_visible()
    expect(chips(page).nth(5)).to_have_attribute("aria-pressed", "true")


def test_a_word_is_hidden_and_comes_back(open_app):
    page = open_app()
    type_into(page, "text-b", "")
    type_into(page, "text-a", "Cats drink milk.")
    expect(chips(page).nth(3)).to_have_text("milk")
    chips(page).nth(3).dblclick()
    expect(page.locator("#text-a textarea")).to_have_value("Cats drink [MASK].")
    expect(chips(page).nth(3)).to_have_text("[MASK]")
    chips(page).nth(3).dblclick()
    expect(page.locator("#text-a textarea")).to_have_value("Cats drink milk.")


@pytest.mark.parametrize("query", ["?layer=99&head=0&token=-1&tab=nowhere", "?a=" + "x" * 9_000, "?a=%00%07&layer=²"])
def test_a_link_that_makes_no_sense_opens_the_page(new_page, served, query):
    page = new_page()
    page.goto(f"{served}/{query}")
    expect(page.locator("#strip .bx-token, #notice .bx-error, #notice [role=alert]").first).to_be_visible(timeout=30_000)


def test_a_model_that_is_not_there_leaves_the_one_in_use(open_app):
    page = open_app()
    box = page.locator("#model-box input")
    box.fill("no-such-owner/no-such-model")
    box.press("Enter")
    expect(page.locator("#notice")).to_contain_text("bert-l6-h384-uncased stays")
    page.wait_for_timeout(2_000)  # nothing that comes after it may clear it
    expect(page.locator("#notice")).to_contain_text("bert-l6-h384-uncased stays")
    expect(box).to_have_value("bert-l6-h384-uncased")
    expect(box).to_have_value("bert-l6-h384-uncased")
    expect(chips(page).first).to_be_visible()


def test_a_model_without_heads_says_why_and_offers_one_that_can(open_app, variant_folders):
    page = open_app()
    box = page.locator("#model-box input")
    box.fill(str(variant_folders["encoder_only"]))
    box.press("Enter")
    open_tab(page, "Fill-mask")
    expect(page.get_by_text(re.compile("has no masked-language-model head"))).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Use the bundled model").locator("visible=true").click()
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]").first).to_be_visible(timeout=20_000)
    expect(box).to_have_value("bert-l6-h384-uncased")


def test_two_people_do_not_see_each_others_words(new_page, served):
    first, second = new_page(), new_page()
    for page in (first, second):
        page.goto(served)
        expect(chips(page).first).to_be_visible()
    type_into(first, "text-a", "elephant")
    expect(chips(first).nth(1)).to_have_text("elephant")
    type_into(second, "text-a", "public")
    expect(chips(second).nth(1)).to_have_text("public")
    open_tab(first, "Tokens")
    expect(first.locator("#tokens-pieces-cards .bx-token").nth(1)).to_have_text("elephant")
    assert "elephant" not in second.content()


def test_nothing_is_wider_than_a_phone(open_app):
    page = open_app(viewport={"width": 420, "height": 900})
    for tab in LABELS:
        if tab == "Its own head":  # the bundled model has none
            continue
        open_tab(page, tab)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, tab


def test_the_first_picture_is_there_before_gradio_s_scripts(new_page, served):
    page = new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(served, wait_until="commit")
    expect(page.locator("#first .bx-flow-box").first).to_be_visible()
    expect(page.locator("#first .bx-flow-lines path[data-route]").first).to_be_attached()
    expect(page.locator("#first .bx-token").first).to_have_text("[CLS]")
    page.unroute("**/assets/*.js")
    page.goto("about:blank")  # what was not let in is told until then
    page.problems.clear()
    page.goto(served)
    expect(page.locator("gradio-app #overview-routes-picture .bx-flow-box").first).to_be_visible()
    expect(page.locator("#first")).to_have_count(0)
