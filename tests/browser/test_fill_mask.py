"""The views of Fill-mask and of Next sentence, used as a person would."""

import re

import pytest

from explorer.techniques.ablation import changed_states
from tests.browser.expecting import expect
from tests.browser.steps import at, open_choice, type_into

ONE, TWO = "?a=She+drank+a+cup+of+%5BMASK%5D.", "?a=The+%5BMASK%5D+went+to+the+%5BMASK%5D."

COLOURS = """() => new Set([...document.querySelectorAll("#fill-mask-heads-board .bx-switch")]
    .map((one) => getComputedStyle(one).backgroundColor)).size > 10"""


@pytest.fixture
def open_view(open_app):
    """Opens the app at one of the views of a tab."""

    def opened(view: str, query: str = "", tab: str = "Fill-mask"):
        page = open_app(at(tab, query))
        open_choice(page, "fill-mask" if tab == "Fill-mask" else "next-sentence", view)
        return page

    return opened


def test_the_lens_shows_every_layer_and_follows_words(open_view, bundled):
    page = open_view("Lens", ONE)
    rows = page.locator("#fill-mask-lens-table tbody tr")
    expect(rows).to_have_count(bundled.capabilities.layers + 1)
    (guess,) = bundled.fill_mask("She drank a cup of [MASK].")
    expect(rows.last.locator("td").nth(guess.position)).to_have_text(guess.candidates[0].token)
    expect(page.get_by_text("✓ matches the model: the last row")).to_be_attached()
    type_into(page, "fill-mask-follow", "tea, milk")
    expect(page.locator("#fill-mask-followed-followed .legendtext")).to_have_text(["tea", "milk"])
    rows.first.locator("button").nth(2).click()
    expect(page.locator("#fill-mask-followed-summary")).to_contain_text("at position 2")
    expect(page.locator("#fill-mask-finding")).to_contain_text("The tuned lens reads ")
    page.get_by_label("tuned lens").check()
    expect(page.locator("#fill-mask-finding")).to_contain_text(", read with the tuned lens")
    expect(page.locator("#fill-mask-followed-summary")).to_contain_text("Read with the tuned lens, at position 2")
    expect(page.locator("#fill-mask-lens-about")).to_contain_text("Fitted on")


def test_heads_are_switched_off_and_on_again(open_view, bundled):
    page = open_view("Switch heads off", ONE)
    board = page.locator("#fill-mask-heads-board")
    expect(board.locator(".bx-switch")).to_have_count(72)
    expect(board.locator(".bx-switch").first).to_have_attribute("title", re.compile(r"layer 1, head 1: .*% → .*%"))
    page.wait_for_function(COLOURS)  # each switch shows what switching it off does
    board.locator(".bx-switch").nth(12 + 2).click()
    expect(board.locator("[aria-pressed=true]")).to_have_count(1)
    trace = bundled.trace("She drank a cup of [MASK].")
    (position,) = trace.mask_positions
    (guess,) = bundled.guesses(changed_states(trace, [(1, 2)])[-1][[position]], [position], 5)
    after = page.locator("#fill-mask-heads-answers .bx-group").nth(1)
    expect(after).to_contain_text("Without layer 2, head 3")
    expect(after.locator(".bx-name").first).to_have_text(guess.candidates[0].token)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(board.locator("[aria-pressed=true]")).to_have_count(2)
    board.locator(".bx-layer").nth(3).click()
    expect(board.locator("[aria-pressed=true]")).to_have_count(14)
    page.locator("#fill-mask-heads-reset").click()
    expect(board.locator("[aria-pressed=true]")).to_have_count(0)
