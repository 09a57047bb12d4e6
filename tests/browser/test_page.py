"""The page as a person uses it: typing, choosing, sections, the finder, links, models, two people at once."""

import re

from explorer.tabs import SECTIONS
from tests.browser.expecting import expect
from tests.browser.steps import chips, settled
from tests.tabs import open_tab, opened_tab


def test_a_link_that_makes_no_sense_opens_the_page(page, served):
    for query in ("?a=%00%07&layer=²&head=0&token=-1&tab=nowhere", "?a=" + "x" * 9_000):
        page.goto(f"{served}/{query}")
        expect(page.locator("#strip .bx-token, #notice .bx-error, #notice [role=alert]").first).to_be_visible()


def test_a_model_that_is_not_there_leaves_the_one_in_use(open_app):
    page = open_app()
    box = page.locator("#model-box input")
    box.fill("no-such-owner/no-such-model")
    box.press("Enter")
    expect(page.locator("#notice")).to_contain_text("bert-l6-h384-uncased stays")
    expect(box).to_have_value("bert-l6-h384-uncased")
    settled(page)  # nothing that comes after it may clear it
    expect(page.locator("#notice")).to_contain_text("bert-l6-h384-uncased stays")
    expect(box).to_have_value("bert-l6-h384-uncased")
    expect(chips(page).first).to_be_visible()


def test_a_model_without_heads_says_why_and_offers_one_that_can(open_app, variant_folders):
    page = open_app()
    box = page.locator("#model-box input")
    box.fill(str(variant_folders["encoder_only"]))
    box.press("Enter")
    open_tab(page, "Fill-mask")
    expect(page.get_by_text(re.compile("has no masked-language-model head"))).to_be_visible()
    page.get_by_role("button", name="Use the bundled model").locator("visible=true").click()
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]").first).to_be_visible()
    expect(box).to_have_value("bert-l6-h384-uncased")


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
