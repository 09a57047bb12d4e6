"""The views of Fill-mask and of Next sentence, used as a person would."""

import csv
import re

import pytest

from explorer.techniques.ablation import intervene
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


def test_words_are_weighed_and_blanks_filled_together(open_view):
    page = open_view("Guesses", TWO)
    expect(page.locator("#fill-mask-together-filled tbody tr")).to_have_count(3)
    expect(page.locator("#fill-mask-together-filled thead th")).to_have_count(3)
    type_into(page, "fill-mask-words", "man, woman")
    expect(page.locator("#fill-mask-comparison-compared .bx-name")).to_have_text(["man", "woman"])
    expect(page.locator("#fill-mask-comparison-ratio")).to_contain_text("times as likely as")
    type_into(page, "fill-mask-words", "antidisestablishmentarianism")
    expect(page.get_by_text("is not one piece of this vocabulary")).to_be_visible()


def test_every_position_is_asked_and_sentences_compared(open_view):
    page = open_view("Every position", ONE)
    expect(page.locator("#fill-mask-positions-surprise .bars .point")).to_have_count(6)
    expect(page.get_by_text(re.compile(r"First guess right at \d of 6 places"))).to_be_visible()
    expect(page.locator("#fill-mask-likelihoods-table")).to_contain_text("-")
    page.locator("#fill-mask-sentences textarea").fill("The man went home.\nMan the home went.")
    page.locator("#fill-mask-likelihoods-score").click()
    expect(page.locator("#fill-mask-likelihoods-table tbody").first).to_contain_text("The man went home.")


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
    expect(page.locator("#fill-mask-finding")).to_contain_text("Raw lens: ")
    page.get_by_label("tuned lens").check()
    expect(page.locator("#fill-mask-finding")).to_contain_text("Tuned lens: ")
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
    (guess,) = bundled.guesses(intervene(trace, [(1, 2)])[[position]], [position], 5)
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


def test_a_word_is_swapped_a_vector_patched_and_a_link_brings_it_back(open_view):
    page = open_view("Guesses", "?a=The+teacher+asked+the+%5BMASK%5D+to+open+their+books.")
    panel = "#fill-mask-what-if"
    page.locator(f"{panel}-gestures").get_by_role("button", name="teacher → engineer").click()
    expect(page.locator(f"{panel}-outcome")).to_contain_text("With engineer for teacher: ")
    page.locator(f"{panel}-gestures").get_by_role("button", name="patch one vector").click()
    expect(page.locator(f"{panel}-outcome")).to_contain_text("the vector of teacher (token 2) at hidden state")
    outcome = page.locator(f"{panel}-outcome").inner_text()
    page.wait_for_url("**swap=teacher,engineer&patch=**")
    page.reload()
    expect(page.locator(f"{panel}-outcome")).to_have_text(outcome)
    expect(page.locator("#text-a textarea")).to_have_value("The teacher asked the [MASK] to open their books.")
    page.locator(f"{panel}-back").get_by_role("button", name="all").click()
    expect(page.locator(f"{panel}-answers")).to_be_hidden()


def test_attribution_and_patching_are_drawn_with_their_checks(open_view):
    page = open_view("Attribution", ONE)
    expect(page.get_by_text(re.compile("Integrated gradients, 50 steps, baseline \\[PAD\\]"))).to_be_visible()
    expect(page.get_by_text("✓ the sum matches the model")).to_be_attached()  # captum is loaded
    page.get_by_label("Gradient × input").check()
    expect(page.get_by_text("This method promises no sum")).to_be_attached()
    open_choice(page, "fill-mask", "Patching")
    expect(page.locator("#fill-mask-patching-heatmap .heatmaplayer")).to_be_attached()
    expect(page.get_by_text("✓ matches the model: the last state")).to_be_attached()
    page.locator("#fill-mask-corrupted textarea, #fill-mask-corrupted input").first.click()
    type_into(page, "fill-mask-corrupted", "too short")
    expect(page.get_by_text("must have as many pieces")).to_be_visible()


def test_without_a_blank_the_views_say_what_to_do(open_view):
    page = open_view("Lens", "?a=no+blank+here")
    expect(page.get_by_text("the last row is the model's own prediction")).to_be_attached()
    for view in ("Guesses", "Patching"):
        open_choice(page, "fill-mask", view)
        expect(page.locator("#fill-mask-hint")).to_contain_text("No blank yet")
        expect(page.locator("#fill-mask-each-word-words button")).to_have_count(3)
        expect(page.locator("#fill-mask-finding")).to_contain_text("is expected least")
    page.locator("#fill-mask-words-row .bx-token").nth(2).click()
    expect(page.locator("#fill-mask-patching-heatmap .heatmaplayer")).to_be_attached()
    expect(page.locator("#fill-mask-each-word-words")).to_be_hidden()


def test_next_sentences_are_ranked_and_pairs_exported(open_view):
    page = open_view("Many pairs", tab="Next sentence")
    expect(page.locator("#next-sentence-pairs")).to_contain_text("0.")
    page.locator("#next-sentence-candidates textarea").fill("She cooked dinner.\nIt is a city of temples.\nMilk is white.")
    page.locator("#next-sentence-candidates textarea").blur()
    expect(page.locator("#next-sentence-pairs-status")).to_contain_text("3 pairs scored.")
    expect(page.locator("#next-sentence-finding")).to_contain_text("comes next, with")
    page.locator("#next-sentence-candidates textarea").fill("<b>one</b>\t=1+1\nShe ran.\tShe fell.")
    page.locator("#next-sentence-candidates textarea").blur()
    expect(page.locator("#next-sentence-pairs-status")).to_contain_text("2 pairs scored.")
    with page.expect_download() as download:
        page.locator("#next-sentence-pairs-export").click()
    written = list(csv.reader(download.value.path().read_text("utf-8").splitlines()))
    assert written[0] == ["A", "B", "IsNext", "Logit difference"]
    assert sorted(row[:2] for row in written[1:]) == [["<b>one</b>", "'=1+1"], ["She ran.", "She fell."]]
    open_choice(page, "next-sentence", "This pair")
    expect(page.locator("#next-sentence-heads-board .bx-switch")).to_have_count(72)
    page.locator("#next-sentence-heads-start").click()
    expect(page.locator("#next-sentence-heads-strongest")).to_contain_text("Most of all for IsNext")
