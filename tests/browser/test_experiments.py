"""Experiments and their test suites, used as a person would."""

import re

from tests.browser.expecting import expect
from tests.browser.steps import choose


def test_a_suite_opens_computed_and_typed_items_are_measured(open_app):
    page = open_app("?tab=experiments")
    finding, chosen = page.locator("#experiments-finding"), page.locator("#experiments-new-chosen")
    problem = page.locator("#experiments-new-problem")
    rows = page.locator("#experiments-new-each tbody tr")
    expect(finding).to_contain_text(
        re.compile(r"Without layer 5, head 11, selected on 32 items, the word's lead in the other 32 changes by −")
    )
    expect(chosen).to_contain_text("Layer 5, head 11")
    expect(rows).to_have_count(64)
    expect(page.locator("#experiments-new-start")).to_be_hidden()
    page.get_by_role("button", name="previous head").click()
    expect(chosen).to_contain_text("Layer 5, head 10")
    expect(finding).to_contain_text("Without layer 5, head 11, selected")  # the selected head stays what it is
    choose(page, "experiments-source", "typed here")
    expect(problem).to_contain_text("Type at least two items")
    box = page.locator("#experiments-typed textarea")
    box.fill("The cat [MASK] here. | is\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(problem).to_contain_text("Line 1 is not an item")
    box.fill("The cat [MASK] here. | is | are\nThe cats [MASK] here. | are | is")
    box.press("Shift+Enter")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button").first.click()
    expect(page.locator("#text-a textarea")).to_have_value(re.compile(r"The cats? \[MASK\] here\."))
    expect(page.locator("#text-b textarea")).to_have_value("")
    expect(page).to_have_url(re.compile("set.source=typed"))
