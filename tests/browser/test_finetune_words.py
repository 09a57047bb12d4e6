"""The choice 'Every word' of Fine-tune as a person uses it."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import choose, type_into
from tests.tabs import open_tab

pytestmark = pytest.mark.own_page  # no link tells what was typed and trained

DONE = "() => !document.querySelector('#fine-tune-words-outcome-train').disabled"


@pytest.fixture
def tab(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    page.locator("#fine-tune-task input").click()
    page.get_by_role("option", name="NER", exact=True).click()
    expect(page.locator("#fine-tune-known-tasks-about")).to_contain_text("Named entity recognition")
    expect(page.locator("#fine-tune-view").get_by_label("Every word")).to_be_checked()
    expect(page.locator("#fine-tune-words-try-row td")).to_have_count(26, timeout=90_000)
    return page


def status(page):
    return page.locator("#fine-tune-words-outcome-status")


def tags(page, part):
    """The tags in a row of words."""
    return page.locator(f"#fine-tune-words-{part} tbody tr").first.locator("td").all_inner_texts()


@pytest.mark.nightly  # test_finetune.py trains classes in the same way, and the views' tests click words
def test_words_are_tagged_typed_clicked_and_learnt(tab):
    assert tags(tab, "try-row")[:2] == ["B-PER", "I-PER"]
    expect(status(tab)).to_contain_text("seqeval")
    expect(tab.locator("#fine-tune-words-result-tag-confusion .heatmaplayer")).to_have_count(1)

    choose(tab, "fine-tune-words-from", "Typed here")
    expect(tab.locator("#fine-tune-words-examples-about")).to_contain_text("8 sentences")
    words = tab.locator("#fine-tune-words-examples-tagged td button")
    expect(words.nth(2)).to_have_text("DRINK")
    words.nth(2).click()
    expect(words.nth(2)).to_have_text("O")
    words.nth(2).click()
    expect(words.nth(2)).to_have_text("DRINK")
    menu = tab.locator("#fine-tune-words-tag input")
    menu.fill("POLITE")
    menu.press("Enter")
    words.nth(7).click()
    expect(words.nth(7)).to_have_text("POLITE")
    type_into(tab, "fine-tune-tag-tried", "<b>two</b> large teas ${alert(1)}")
    tab.locator("#fine-tune-words-outcome-train").click()
    expect(tab.locator("#fine-tune-words-outcome-train")).to_be_disabled()
    tab.wait_for_function(DONE, timeout=90_000)
    expect(status(tab)).to_contain_text("COUNT / DRINK / FOOD / POLITE / SIZE")
    expect(tab.locator("#fine-tune-words-try-row thead")).to_contain_text("alert")
    expect(tab.locator("#fine-tune-words-result-note")).to_contain_text("held-out words")
    said = status(tab).inner_text()

    tab.reload()
    open_tab(tab, "Fine-tune")
    tab.locator("#fine-tune-view").get_by_label("Every word").check()
    expect(status(tab)).to_have_text(said.removeprefix("Trained just now. "), timeout=60_000)
