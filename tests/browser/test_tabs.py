"""Every tab, used as a person would."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import at, chips, settled
from tests.tabs import open_tab


@pytest.fixture
def open_at(open_app):
    """Opens the app at a tab."""

    def opened(tab: str, query: str = ""):
        return open_app(at(tab, query))

    return opened


def test_tokens_have_ids_segments_and_positions(open_at, bundled):
    page = open_at("Tokens", "?a=unbelievable+%F0%9F%8D%8E&b=yes")
    encoding = bundled.encode("unbelievable 🍎", "yes")
    cards = page.locator("#tokens-pieces-cards .bx-cell")
    expect(cards).to_have_count(len(encoding.ids))
    for index, number in enumerate(encoding.ids):
        expect(cards.nth(index)).to_contain_text(str(number))
    expect(page.locator("#tokens-pieces-cards .bx-unk")).to_have_count(encoding.tokens.count("[UNK]"))
    expect(page.locator("#tokens-pieces-cards .bx-special")).to_have_count(3)


def test_fill_mask_a_click_hides_a_word(open_at):
    page = open_at("Fill-mask", "?a=The+sky+is+blue.")
    row = page.locator("#fill-mask-words-row .bx-token")
    row.nth(4).click()
    expect(page.locator("#text-a textarea")).to_have_value("The sky is [MASK].")
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]")).to_have_count(5)
    expect(page.locator("#fill-mask-guesses-guesses button[data-index]").first).to_contain_text("%")
    page.locator("#strip .bx-token").nth(2).dblclick()
    expect(page.locator("#fill-mask-guesses-guesses h3")).to_have_count(2)
    page.locator("#strip .bx-token").nth(2).dblclick()
    expect(page.locator("#text-a textarea")).to_have_value("The sky is [MASK].")
    expect(page.locator("#fill-mask-guesses-guesses h3")).to_have_count(1)


def test_next_sentence_both_ways(open_at):
    page = open_at("Next sentence")
    expect(page.locator("#next-sentence-pair-verdict")).to_contain_text(re.compile(r"IsNext.*%.*NotNext.*%", re.DOTALL))
    page.locator("#next-sentence-view").get_by_label("Many pairs").check()
    expect(page.locator("#next-sentence-pairs")).to_contain_text(re.compile(r"0\.\d{2,4}"))
    page.locator("#next-sentence-view").get_by_label("This pair").check()
    page.locator("#text-b textarea").fill("")
    expect(page.get_by_text("Type a second sentence in B")).to_be_visible()


def test_gradio_keeps_nothing_of_what_a_call_was_given(open_at):
    """It goes through all that it keeps at each step of every later call."""
    page = open_at("Tokens")
    page.evaluate(
        """async () => {
            const parts = Object.values(await import(new URL(BertExplorer.told.statuses, document.baseURI)));
            const kind = parts.find((part) => part?.LoadingStatus).LoadingStatus.prototype;
            const { update } = kind;
            window.ended = 0;
            kind.update = function (told) {
                update.call(this, told);
                window.keeps = Object.keys(this.current);
                window.ended += told.status === "complete";
            };
        }"""
    )
    open_tab(page, "Attention")
    page.locator("#attention-heads-grid button").nth(16).click()
    expect(page.locator("#attention-head-title")).to_contain_text("Layer 2, head 5")
    page.wait_for_function("() => window.ended > 1 && !window.keeps.length")


@pytest.mark.nightly  # nothing on the page is wrong where it fails
def test_a_page_with_nothing_to_do_draws_nothing(new_page, served):
    page = new_page()
    page.add_init_script(
        """const frame = window.requestAnimationFrame;
        window.asked = 0;
        window.requestAnimationFrame = (call) => ((window.asked += 1), frame.call(window, call));"""
    )
    page.goto(served)
    expect(chips(page).first).to_be_visible()
    settled(page)
    assert page.evaluate("() => window.asked") > 0
    unchanged = "() => { const before = window.before; window.before = window.asked; return before === window.asked; }"
    page.wait_for_function(unchanged, polling=500)
