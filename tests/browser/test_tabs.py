"""Every tab, used as a person would."""

import pytest

from explorer.fill_mask.tab import TAB
from tests.browser.expecting import expect
from tests.browser.steps import at
from tests.tabs import open_tab


@pytest.fixture
def open_at(open_app):
    """Opens the app at a tab."""

    def opened(tab: str, query: str = ""):
        return open_app(at(tab, query))

    return opened


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


def test_choices_behind_more_are_reached_by_keys_and_stay_in_sight_while_open(open_at):
    page = open_at("Fill-mask")
    choices, more = page.locator("#fill-mask-view label:visible"), page.locator("#fill-mask-rest")
    first = list(TAB.choices)[: TAB.in_sight]
    expect(choices).to_have_text(first)
    more.get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    items = more.get_by_role("menuitemradio")
    expect(items.locator("b")).to_have_text(list(TAB.behind_more))
    expect(items.locator("span")).to_have_text(list(TAB.behind_more.values()))
    expect(items.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)  # hidden
    expect(more.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(choices).to_have_text([*first, "Pre-training game"])
    expect(page.get_by_role("radio", name="Pre-training game")).to_be_focused()
    expect(page.locator("#fill-mask-game-again")).to_be_visible()
    more.get_by_role("button").click()
    expect(items.last).to_have_attribute("aria-checked", "true")
    page.locator("#fill-mask-question").click()
    expect(items).to_have_count(0)
    page.evaluate("() => BertExplorer.page.open('Fill-mask', 'Patching')")
    expect(choices).to_have_text([*first, "Patching"])
    choices.first.click()
    expect(choices).to_have_text(first)


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
