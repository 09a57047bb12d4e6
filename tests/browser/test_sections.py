"""The sections above the tabs."""

from explorer.tabs import SECTIONS
from tests.browser.expecting import expect
from tests.tabs import open_tab, opened_tab


def test_a_section_shows_its_tabs_only_and_remembers_which_was_open(open_app):
    page = open_app()
    expect(page.locator("#sections [role=tab]")).to_have_text(list(SECTIONS))
    expect(page.locator("#tabs [role=tab]:visible")).to_have_count(0)  # the Overview has none beside it
    open_tab(page, "Attention")
    expect(page.locator("#tabs [role=tab]:visible")).to_have_text([tab.label for tab in SECTIONS["Look inside"]])
    where = page.get_by_role("tab", name="Ask", exact=True).bounding_box()
    page.get_by_role("tab", name="Ask", exact=True).click()
    expect(opened_tab(page)).to_have_text("Fill-mask")
    assert page.get_by_role("tab", name="Ask", exact=True).bounding_box() == where
    page.get_by_role("tab", name="Look inside", exact=True).click()
    expect(opened_tab(page)).to_have_text("Attention")


def test_a_tab_that_is_opened_elsewhere_opens_its_section(open_app):
    page = open_app("?tab=corpus&view=head-atlas")
    section = page.locator("#sections [aria-selected=true]")
    expect(section).to_have_text("Beyond one sentence")
    page.evaluate("() => BertExplorer.page.open('Fine-tune')")
    expect(section).to_have_text("Teach it")
