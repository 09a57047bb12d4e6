"""The Fine-tune tab's choice 'An answer in a text' as a person uses it."""

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import choose, type_into
from tests.tabs import open_tab

pytestmark = pytest.mark.own_page  # no link tells what was typed and trained

PEOPLE = {"Anna": ("Rome", "red"), "Tom": ("Paris", "black"), "Maria": ("Oslo", "white"), "Ben": ("London", "brown")}
TEXTS = [f"{name} lives in {town}. The dog of {name} is {colour}." for name, (town, colour) in PEOPLE.items()]


def status(page):
    return page.locator("#fine-tune-answer-outcome-status")


def number(page, name, value):
    box = page.locator(f"#fine-tune-{name} input[type=number]")
    box.fill(str(value))
    box.press("Enter")


@pytest.mark.nightly
def test_questions_are_typed_learnt_and_tried(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    page.locator("#fine-tune-task input").click()
    page.get_by_role("option", name="SQuAD", exact=True).click()
    expect(page.locator("#fine-tune-view").get_by_label("An answer in a text")).to_be_checked()
    expect(page.locator("#fine-tune-answer-examples-about")).to_contain_text("457 questions on 80 texts")
    expect(status(page)).to_contain_text("press Train")
    expect(page.locator("#fine-tune-answer-try-found")).to_be_hidden()

    choose(page, "fine-tune-asked-from", "Typed here")
    expect(page.locator("#fine-tune-answer-examples-about")).to_contain_text("466 questions on 83 texts")
    page.locator("#fine-tune-asked-beside").get_by_role("checkbox").uncheck()
    expect(page.locator("#fine-tune-answer-examples-about")).to_contain_text("9 questions on 3 texts")
    box = page.locator("#fine-tune-asked-lines textarea")
    box.fill("Anna sleeps.\nWho sleeps? | Tom")
    expect(page.locator("#fine-tune-answer-examples-about")).to_contain_text("The answer of line 2 does not stand")
    box.fill("\n\n".join(f"{text}\nWhat colour is the dog? | {text.rstrip('.').split()[-1]}\nWho has a cat? |" for text in TEXTS))
    expect(page.locator("#fine-tune-answer-examples-about")).to_contain_text("8 questions on 4 texts")
    number(page, "answer-layers", 1)
    page.locator("#fine-tune-answer-outcome-train").click()
    expect(status(page)).to_contain_text("Trained just now. Answers, typed: the head and 1 layer, epoch 4 of 4", timeout=120_000)
    expect(page.locator("#fine-tune-answer-outcome-train")).to_be_enabled()

    before = page.locator("#fine-tune-answer-try-verdict").inner_text()
    type_into(page, "fine-tune-asked-text", "The cat of <b>Eva</b> is ${alert(1)} gray.")
    page.wait_for_function("before => document.querySelector('#fine-tune-answer-try-verdict').innerText !== before", arg=before)
    expect(page.locator("#fine-tune-answer-try-found")).to_have_text("The cat of <b>Eva</b> is ${alert(1)} gray.")
    expect(page.locator("#fine-tune-answer-try-row td").first).to_be_visible()
    expect(page.locator("#fine-tune-answer-try-looks .heatmaplayer")).to_have_count(1)
    expect(page.locator("#fine-tune-answer-result-note")).to_contain_text("held-out questions are answered")

    said = status(page).inner_text()
    page.reload()
    open_tab(page, "Fine-tune")
    page.locator("#fine-tune-view").get_by_label("An answer in a text").check()
    expect(status(page)).to_have_text(said.removeprefix("Trained just now. "), timeout=60_000)
