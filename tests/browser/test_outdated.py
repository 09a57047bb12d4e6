"""What is not of the present input and choice is pale from the key or click on, and never stands beside an error."""

import pytest

from explorer.core.limits import CHARACTERS
from explorer.tabs import TABS
from tests.at_night import at_night
from tests.browser.expecting import expect
from tests.browser.steps import at, held, settled

FULL = """() => [...document.querySelectorAll("#tabs :is(.block.bx-content, [id$=-finding])")]
    .filter((one) => one.getClientRects().length && (one.innerText.trim() || one.querySelector("canvas, svg")))
    .filter((one) => getComputedStyle(one).visibility === "visible" && Number(getComputedStyle(one).opacity) > 0.5)
    .map((one) => one.id)"""
SOME_FULL, NONE_FULL = f"() => ({FULL})().length", f"() => !({FULL})().length"
NONE_LEFT = """() => [...document.querySelectorAll("#tabs .view > .part")].filter((one) => one.getClientRects().length)
    .every((one) => getComputedStyle(one).opacity === "0")"""  # below the title of another choice
OTHER = "Paris is the capital of [MASK]."


TO_OPEN = [tab for tab in TABS if not tab.optional]
BY_DAY = [tab for tab in TO_OPEN if tab.id in ("attention", "fill-mask")]


@pytest.mark.parametrize("tab", at_night(TO_OPEN, but=BY_DAY), ids=lambda tab: tab.id)
def test_another_text_or_choice_pales_what_is_shown(open_app, tab):
    page = open_app(at(tab.label))
    settled(page)
    page.wait_for_function(SOME_FULL)
    for label in [*tab.choices][1:2]:
        with held(page):
            page.locator(f"#{tab.id}-view").get_by_label(label, exact=True).check()
            page.wait_for_function(NONE_FULL)
            page.wait_for_function(NONE_LEFT)
        settled(page)
        page.wait_for_function(SOME_FULL)
    with held(page):
        page.locator("#text-a textarea").press("End")
        page.keyboard.type("!")
        page.wait_for_function(NONE_FULL)
        expect(page.locator("#says")).to_have_css("opacity", "0.35")
    settled(page)
    expect(page.locator("#says")).to_have_css("opacity", "1")


@pytest.mark.parametrize(
    ("tab", "wrong", "told"),
    [
        ("Attention", "word " * (CHARACTERS.most // 5 + 1), "characters. Shorten it"),
        ("Next sentence", "", "Text A is empty. Type a sentence"),
    ],
    ids=["attention", "next sentence"],
)
def test_no_picture_stands_beside_an_error(open_app, tab, wrong, told):
    page = open_app(at(tab))
    settled(page)
    page.wait_for_function(SOME_FULL)
    page.locator("#text-a textarea").fill(wrong)
    hint = page.locator(".bx-error").locator("visible=true")
    expect(hint.first).to_be_visible()
    expect(page.locator("#notice")).to_contain_text(told)
    page.wait_for_function(NONE_FULL)
    with held(page):  # neither do earlier ones come back while the next text is typed
        page.locator("#text-a textarea").fill(OTHER)
        page.wait_for_function(NONE_FULL)
    if tab == "Next sentence":  # the example's B went with its A
        page.locator("#text-b textarea").fill("It is a large city.")
    settled(page)
    expect(hint).to_have_count(0)
    page.wait_for_function(SOME_FULL)
