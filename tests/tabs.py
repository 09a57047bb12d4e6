"""Navigation to a tab: by its section, and then by the tab itself."""

from typing import Any

from explorer.tabs import SECTIONS, TABS

LABELS = tuple(tab.label for tab in TABS)


def ways_to(name: str) -> list[str]:
    """The buttons to press in turn for the tab `name`; a section opens with its first tab."""
    section, tabs = next((label, tabs) for label, tabs in SECTIONS.items() if name in [tab.label for tab in tabs])
    return [section] if len(tabs) == 1 else [section, name]


def open_tab(page: Any, name: str) -> None:
    """Click the way to the tab `name`, unless it is open."""
    for label in ways_to(name):
        button = page.get_by_role("tab", name=label, exact=True)
        if button.get_attribute("aria-selected") != "true":
            button.click()


def opened_tab(page: Any) -> Any:
    """The open tab; a section's only tab is not shown as a tab."""
    return page.locator("#tabs [role=tab][aria-selected=true]")
