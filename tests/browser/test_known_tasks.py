"""The tasks that are known by name, and the number that one of them asks for."""

import re

import pytest

from tests.browser.expecting import expect
from tests.browser.steps import choose, type_into, unfold
from tests.tabs import open_tab

pytestmark = pytest.mark.own_page  # no link tells what was typed and trained


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
    expect(page.locator("#fine-tune-examples-balance .bx-bars button")).to_have_count(5)
    train = page.locator("#fine-tune-outcome-train")
    train.click()
    expect(train).to_be_disabled()
    status = page.locator("#fine-tune-outcome-status")
    expect(status).to_contain_text(
        re.compile(r"Similarity: .*Spearman correlation 0\.\d+, Pearson correlation 0\.\d+"), timeout=90_000
    )
    unfold(page, "What is the result worth?")
    expect(page.locator("#fine-tune-result-picture .scatterlayer .trace")).to_have_count(2)
    expect(page.locator("#fine-tune-result-sentences")).to_contain_text("‖")
    type_into(page, "fine-tune-tried", "The cat sleeps on the sofa.")
    type_into(page, "fine-tune-second", "A cat is asleep on the couch.")
    expect(page.locator("#fine-tune-try-it-verdict button")).to_contain_text(re.compile(r"^[2345]\.\d\d.*on a scale from 0 to 5"))
    expect(page.locator("#fine-tune-try-it-words .barlayer .point")).to_have_count(13)
