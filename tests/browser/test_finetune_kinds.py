"""What else Fine-tune learns, as a person uses it: tags, answers and numbers. test_finetune.py has the same parts for classes."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import choose, type_into, unfold
from tests.tabs import open_tab

pytestmark = [pytest.mark.nightly, pytest.mark.own_page]  # no link tells what was typed and trained

PEOPLE = {"Anna": ("Rome", "red"), "Tom": ("Paris", "black"), "Maria": ("Oslo", "white"), "Ben": ("London", "brown")}
TEXTS = [f"{name} lives in {town}. The dog of {name} is {colour}." for name, (town, colour) in PEOPLE.items()]
DONE = "() => !document.querySelector('#fine-tune-outcome-train').disabled"


@pytest.fixture
def tab(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    page.locator("#fine-tune-task input").click()
    page.get_by_role("option", name="NER", exact=True).click()
    expect(page.locator("#fine-tune-known-tasks-about")).to_contain_text("Named entity recognition")
    expect(page.locator("#fine-tune-kind").get_by_label("Every word")).to_be_checked()
    expect(page.locator("#fine-tune-try-it-row td")).to_have_count(26, timeout=90_000)
    return page


def status(page):
    return page.locator("#fine-tune-outcome-status")


def tags(page, part):
    """The tags in a row of words."""
    return page.locator(f"#fine-tune-{part} tbody tr").first.locator("td").all_inner_texts()


def test_words_are_tagged_typed_and_learnt(tab):
    assert tags(tab, "try-it-row")[:2] == ["B-PER", "I-PER"]
    expect(status(tab)).to_contain_text("seqeval")
    unfold(tab, "What is the result worth?")
    expect(tab.locator("#fine-tune-result-picture .heatmaplayer")).to_have_count(1)

    choose(tab, "fine-tune-source", "Typed here")
    expect(tab.locator("#fine-tune-examples-about")).to_contain_text("8 sentences")
    words = tab.locator("#fine-tune-examples-tagged td")
    expect(words.nth(2)).to_have_text("DRINK")
    box = tab.locator("#fine-tune-tagged_lines textarea")
    box.fill(box.input_value().replace("please", "please/POLITE"))
    expect(words.nth(7)).to_have_text("POLITE")
    type_into(tab, "fine-tune-tried", "<b>two</b> large teas ${alert(1)}")
    tab.locator("#fine-tune-outcome-train").click()
    expect(tab.locator("#fine-tune-outcome-train")).to_be_disabled()
    tab.wait_for_function(DONE, timeout=90_000)
    expect(status(tab)).to_contain_text("COUNT / DRINK / FOOD / POLITE / SIZE")
    expect(tab.locator("#fine-tune-try-it-row thead")).to_contain_text("alert")
    expect(tab.locator("#fine-tune-result-note")).to_contain_text("held-out words")


def answered(page):
    return page.locator("#fine-tune-outcome-status")


def number(page, name, value):
    box = page.locator(f"#fine-tune-{name} input[type=number]")
    box.fill(str(value))
    box.press("Enter")


def test_questions_are_typed_learnt_and_tried(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    page.locator("#fine-tune-task input").click()
    page.get_by_role("option", name="SQuAD", exact=True).click()
    expect(page.locator("#fine-tune-kind").get_by_label("An answer in a text")).to_be_checked()
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("457 questions on 80 texts")
    expect(answered(page)).to_contain_text("Press Train")
    expect(page.locator("#fine-tune-try-it-found")).to_be_hidden()

    choose(page, "fine-tune-source", "Typed here")
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("466 questions on 83 texts")
    box = page.locator("#fine-tune-asked textarea")
    box.fill("Anna sleeps.\nWho sleeps? | Tom")
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("The answer of line 2 is not in its text")
    box.fill("\n\n".join(f"{text}\nWhat colour is the dog? | {text.rstrip('.').split()[-1]}\nWho has a cat? |" for text in TEXTS))
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("465 questions on 84 texts")
    unfold(page, "Settings")
    number(page, "layers", 1)
    page.locator("#fine-tune-outcome-train").click()
    expect(answered(page)).to_contain_text("Answers, typed: the head and 1 layer, epoch 4 of 4", timeout=120_000)
    expect(page.locator("#fine-tune-outcome-train")).to_be_enabled()

    before = page.locator("#fine-tune-try-it-said").inner_text()
    type_into(page, "fine-tune-second", "The cat of <b>Eva</b> is ${alert(1)} gray.")
    page.wait_for_function("before => document.querySelector('#fine-tune-try-it-said').innerText !== before", arg=before)
    expect(page.locator("#fine-tune-try-it-found")).to_have_text("The cat of <b>Eva</b> is ${alert(1)} gray.")
    expect(page.locator("#fine-tune-try-it-row td").first).to_be_visible()
    expect(page.locator("#fine-tune-result-note")).to_contain_text("held-out questions are not answered")


def test_the_name_of_a_task_chooses_its_kind_and_a_number_is_learnt(open_app):
    page = open_app("")
    open_tab(page, "Fine-tune")
    choose(page, "fine-tune-task", "CoLA")
    about = page.locator("#fine-tune-known-tasks-about")
    expect(about).to_contain_text("Linguistic Acceptability: a sentence →")
    expect(page.locator("#fine-tune-ready input")).to_have_value(re.compile("^Grammar"))
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("Variants of one sentence are held out together")

    choose(page, "fine-tune-source", "Typed here")
    expect(page.locator("#fine-tune-examples-about")).to_contain_text("18 sentences")
    choose(page, "fine-tune-task", "STS-B")
    expect(about).to_contain_text("a number from 0 to 5")
    expect(about).to_contain_text("a head on hidden state 4")
    expect(page.locator("#fine-tune-ready input")).to_have_value(re.compile("^Similarity"))
    train = page.locator("#fine-tune-outcome-train")
    train.click()
    expect(train).to_be_disabled()
    status = page.locator("#fine-tune-outcome-status")
    expect(status).to_contain_text(
        re.compile(r"Similarity: .*Spearman correlation 0\.\d+, Pearson correlation 0\.\d+"), timeout=90_000
    )
    unfold(page, "What is the result worth?")
    expect(page.locator("#fine-tune-result-sentences")).to_contain_text("‖")
    type_into(page, "fine-tune-tried", "The cat sleeps on the sofa.")
    type_into(page, "fine-tune-second", "A cat is asleep on the couch.")
    expect(page.locator("#fine-tune-try-it-said")).to_contain_text(re.compile(r"^[2345]\.\d\d, where the held-out"))
