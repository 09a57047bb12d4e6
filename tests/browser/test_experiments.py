"""Experiments and their test suites, used as a person would."""

import re
from dataclasses import replace

import pytest

import explorer
from tests.browser.expecting import expect
from tests.browser.steps import at, charts_fit, choose, click_chart, open_choice, settled
from tests.families import write_family


def test_a_suite_opens_computed_and_typed_items_are_measured(open_app):
    page = open_app("?tab=experiments")
    finding, chosen = page.locator("#experiments-finding"), page.locator("#experiments-new-chosen")
    problem = page.locator("#experiments-new-problem")
    rows = page.locator("#experiments-new-each tbody tr")
    expect(finding).to_contain_text(re.compile(r"Layer 5, head 11, selected on 32 items, changes .* of the other 32 by −"))
    expect(chosen).to_contain_text("Layer 5, head 11")
    expect(rows).to_have_count(64)
    expect(page.locator("#experiments-new-start")).to_be_hidden()
    page.get_by_role("button", name="previous head").click()
    expect(chosen).to_contain_text("Layer 5, head 10")
    expect(finding).to_contain_text("Layer 5, head 11, selected")  # the selected head stays what it is
    choose(page, "experiments-source", "typed here")
    expect(problem).to_contain_text("Type at least two items")
    box = page.locator("#experiments-typed textarea")
    box.fill("The cat [MASK] here. | is\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(problem).to_contain_text("Line 1 is no item")
    box.fill("The cat [MASK] here. | is | are\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button").first.click()
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(r"The cats? \[MASK\] here\."))
    expect(page.locator("#text-b textarea")).to_have_value("")
    expect(page).to_have_url(re.compile("set.source=typed"))


def test_another_question_is_asked_of_the_same_items(open_app):
    page = open_app("?tab=experiments&view=lens")
    finding, chosen = page.locator("#experiments-finding"), page.locator("#experiments-new-chosen")
    expect(finding).to_contain_text("From hidden state 4 on the word is ahead of the foil in 32 items")
    expect(chosen).to_contain_text("Hidden state 4")
    settled(page)
    charts_fit(page)
    point = page.locator("#experiments-new-board .scatterlayer .point").nth(6).bounding_box()
    click_chart(page, point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    expect(chosen).to_contain_text("Hidden state 6")
    choose(page, "experiments-asks", "How much comes from the marked word? (routes)")
    board = page.locator("#experiments-new-board .bx-chart")
    expect(page.locator("#experiments-new-each tbody tr")).to_have_count(64)
    expect(board).to_be_hidden()  # no room is kept for a picture that nobody has asked for yet
    expect(page.get_by_role("button", name="Measure every item")).to_be_visible()
    choose(page, "experiments-source", "Facts")
    expect(page.locator("#experiments-new-problem")).to_contain_text("it has no marked word; put stars around one")


def test_a_run_is_saved_and_opened_beside_another(open_app, tmp_path):
    page = open_app("?tab=experiments")
    saved = tmp_path / "zeros.json"
    page.locator("#experiments-new-save").click()
    with page.expect_download() as download:
        page.locator("#experiments-new-download").click()
    assert download.value.suggested_filename == "heads_off-agreement.json"
    download.value.save_as(saved)
    run = explorer.open_experiment(saved)
    other = tmp_path / "seed.json"
    explorer.save_experiment(replace(run, values=run.values * 2, provenance={**run.provenance, "seed": 1}), other)
    open_choice(page, "experiments", "Saved runs")
    compared, chosen = page.locator("#experiments-saved-compared"), page.locator("#experiments-saved-chosen")
    expect(compared).to_contain_text("open its file here")
    page.locator("input[type=file]:has(+ #experiments-run)").set_input_files(saved)
    expect(chosen).to_contain_text("Layer 5, head 11: −")
    expect(page.locator("#experiments-saved-about")).to_contain_text("weights SHA-256")
    page.locator("input[type=file]:has(+ #experiments-other-run)").set_input_files(other)
    expect(compared).to_contain_text("The runs differ in the seed.")
    expect(compared).to_contain_text("rank correlation of 1.00")
    expect(page.locator("#experiments-saved-each tbody tr")).to_have_count(64)
    expect(page.locator("#experiments-saved-other-chosen")).to_contain_text("Layer 5, head 11: −")


@pytest.mark.nightly
def test_a_suite_is_judged_beside_another_model_and_a_pair_is_read(open_app, tmp_path):
    other = str(write_family(tmp_path / "other", "roberta"))
    page = open_app(at("Experiments", "?view=test-suites"))
    finding, pairs = page.locator("#experiments-finding"), page.locator("#experiments-suites-pairs tbody button")
    expect(finding).to_contain_text("The better word wins in", timeout=60_000)
    expect(pairs).to_have_count(64)
    expect(page.locator("#experiments-suites-check")).to_contain_text("✓")
    choose(page, "experiments-suite", "Gender stereotypes")
    expect(finding).to_contain_text("The stereotype wins in", timeout=60_000)
    expect(page.locator("#experiments-suites-about")).to_contain_text("50% is no preference")
    bars = page.locator("#experiments-suites-picture .barlayer .point path")
    expect(bars).to_have_count(5)
    settled(page)
    charts_fit(page)
    box = bars.nth(1).bounding_box()
    click_chart(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(pairs).to_have_count(16)
    page.locator("#experiments-other input").fill(other)
    page.locator("#experiments-other input").press("Enter")
    expect(bars).to_have_count(10, timeout=60_000)
    text = pairs.first.evaluate("(one) => one.closest('tr').cells[0].textContent")
    pairs.first.click()
    settled(page)
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(rf"^{re.escape(text)} \[MASK\]"))
