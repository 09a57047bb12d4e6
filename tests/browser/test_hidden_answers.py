"""Answers that are covered until the class has guessed."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, settled, type_into, visit
from tests.browser.test_first_seconds import delayed

JAPAN = "?a=The+capital+of+Japan+is+[MASK].&b="
GUESSES, FINDING = "#fill-mask-guesses-guesses", "#fill-mask-finding"
SEEN = """() => window.seen = new MutationObserver(() => requestAnimationFrame(() => {
    window.leaked ||= document.querySelector('#fill-mask-guesses-guesses')?.innerText.replace(/Answer hidden.*/, '').trim() ?? '';
})).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })"""


@pytest.fixture
def hidden(open_app):
    """Opens a tab at a query, and hides the answers."""

    pages = []

    def opened(tab, query=JAPAN):
        pages.append(page := open_app(at(tab, query)))
        settled(page)
        page.evaluate("() => BertExplorer.answers.setHidden(true)")
        return page

    yield opened
    for page in pages:
        page.evaluate("() => BertExplorer.answers.setHidden(false)")


def cover(page, where):
    """What covers an answer."""
    return page.locator(where).get_by_role("button", name="Answer hidden")


def expect_covered(page, where, text):
    """It is in no text that can be read or found, and its place is filled by its cover."""
    block = page.locator(where)
    expect(cover(page, where)).to_be_visible()
    expect(cover(page, where)).to_have_attribute("aria-expanded", "false")
    expect(block.locator(".bx").first).to_be_hidden()
    assert text not in block.inner_text()
    assert text not in block.aria_snapshot()
    box, lid = block.bounding_box(), cover(page, where).bounding_box()
    assert lid["height"] == pytest.approx(box["height"], abs=1)


def test_guesses_are_covered_and_shown_one_by_one(hidden):
    page = hidden("Fill-mask")
    expect_covered(page, GUESSES, "tokyo")
    expect_covered(page, FINDING, "tokyo")
    before = page.locator(GUESSES).bounding_box()
    cover(page, GUESSES).click()
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(page.locator(GUESSES)).to_be_focused()
    assert page.locator(GUESSES).bounding_box() == before
    expect_covered(page, FINDING, "tokyo")
    cover(page, FINDING).press("Enter")
    expect(page.locator(FINDING)).to_contain_text("tokyo", use_inner_text=True)


def test_a_new_text_is_covered_before_it_is_seen(hidden):
    page = hidden("Fill-mask")
    cover(page, GUESSES).click()
    page.evaluate("() => { window.leaked = ''; }")
    type_into(page, "text-a", "The capital of France is [MASK].")
    settled(page)
    expect_covered(page, GUESSES, "paris")
    cover(page, GUESSES).click()
    expect(page.locator(GUESSES).locator(".bx-name").first).to_have_text("paris")
    page.evaluate(SEEN)
    page.evaluate("() => { window.leaked = ''; }")
    visit(page, at("Fill-mask", "?a=He+drank+a+cup+of+[MASK].&b="))
    expect_covered(page, GUESSES, "tea")
    assert "tea" not in page.evaluate("() => window.leaked")


def test_a_key_and_a_button_switch_it_and_a_reload_keeps_it(new_page, served):
    page = new_page()
    page.goto(f"{served}/{at('Fill-mask', JAPAN)}")
    switch = page.get_by_role("button", name="Hide answers")
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.locator("#text-a textarea").press("h")
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.locator("#text-a textarea").press("Backspace")
    settled(page)
    switch.focus()
    page.keyboard.press("h")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect_covered(page, GUESSES, "tokyo")
    assert "answers" not in page.url
    settled(page)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {SEEN})")
    page.reload()
    expect_covered(page, GUESSES, "tokyo")
    assert page.evaluate("() => window.leaked ?? ''") == ""
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(page.locator(GUESSES).get_by_text("tokyo")).to_be_visible()
    expect(page.locator(".bx-cover:visible")).to_have_count(0)


def test_the_picture_that_the_page_opens_with_is_covered_from_its_first_moment(page, served):
    page.add_init_script("sessionStorage.setItem('bert-answers', 'true')")
    go_on = delayed(page, served)
    expect(page.locator("#first [data-of=overview-finding] .bx-cover")).to_be_visible()
    answers = page.locator("#first :is(.bx-flow-box, .bx-flow-label, .bx-flow-output, .bx-says > *)")
    expect(answers.locator("visible=true")).to_have_count(0)
    go_on()
    expect(page.locator("#first")).to_have_count(0)
    expect_covered(page, "#overview-finding", "tokyo")
    expect_covered(page, "#overview-routes-picture", "tokyo")
    cover(page, "#overview-routes-picture").click()
    expect(page.locator("#overview-routes-picture .bx-flow-box").first).to_be_visible()
    expect_covered(page, "#overview-finding", "tokyo")
