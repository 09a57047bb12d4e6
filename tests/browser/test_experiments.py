"""Experiments and their test suites, used as a person would."""

import re
from dataclasses import replace

import explorer
from tests.browser.expecting import expect
from tests.browser.steps import choose, open_choice


def test_a_suite_opens_computed_and_typed_items_are_measured(open_app):
    page = open_app("?tab=experiments")
    finding, chosen = page.locator("#experiments-finding"), page.locator("#experiments-heads-chosen")
    problem = page.locator("#experiments-heads-problem")
    rows = page.locator("#experiments-heads-each tbody tr")
    expect(finding).to_contain_text(re.compile(r"Layer 5, head 11, selected on 32 items, changes .* of the other 32 by −"))
    expect(chosen).to_contain_text("Layer 5, head 11")
    expect(rows).to_have_count(64)
    expect(page.locator("#experiments-heads-start")).to_be_hidden()
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


def test_a_run_is_saved_and_opened_beside_another(open_app, tmp_path):
    page = open_app("?tab=experiments")
    saved = tmp_path / "zeros.json"
    page.locator("#experiments-heads-save").click()
    with page.expect_download() as download:
        page.locator("#experiments-heads-download").click()
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
