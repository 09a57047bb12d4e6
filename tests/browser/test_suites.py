"""Test suites, used as a person would."""

from tests.browser.expecting import expect
from tests.browser.steps import at, choose, click_chart, settled
from tests.families import write_family


def test_a_suite_is_judged_beside_another_model_and_a_pair_is_read(open_app, tmp_path):
    other = str(write_family(tmp_path / "other", "roberta"))
    page = open_app(at("Experiments", "?view=test-suites"))
    finding, pairs = page.locator("#experiments-finding"), page.locator("#experiments-suites-pairs tbody button")
    expect(finding).to_contain_text("The better word wins in", timeout=60_000)
    expect(pairs).to_have_count(64)
    expect(page.locator("#experiments-suites-check")).to_contain_text("✓")
    choose(page, "experiments-suite", "Gender stereotypes")
    expect(finding).to_contain_text("The stereotype wins in", timeout=60_000)
    expect(page.locator("#experiments-suites-about")).to_contain_text("50\u00a0% is no preference")
    bars = page.locator("#experiments-suites-picture .barlayer .point path")
    expect(bars).to_have_count(5)
    box = bars.nth(1).bounding_box()
    click_chart(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(pairs).to_have_count(16)
    page.locator("#experiments-other input").fill(other)
    page.locator("#experiments-other input").press("Enter")
    expect(bars).to_have_count(10, timeout=60_000)
    text = pairs.first.evaluate("(one) => one.closest('tr').cells[0].textContent")
    pairs.first.click()
    settled(page)
    assert page.locator("#text-a textarea").input_value().startswith(f"{text} [MASK]")
    assert not page.problems
