"""How a person gets to a tab: by its section, and there by the tab itself."""

from typing import Any

from explorer.views import SECTIONS, TABS

LABELS = tuple(tab.label for tab in TABS)


def ways_to(name: str) -> list[str]:
    """What is pressed one after the other to get to the tab called `name`; a section opens with its first tab."""
    section, tabs = next((label, tabs) for label, tabs in SECTIONS.items() if name in [tab.label for tab in tabs])
    return [section] if len(tabs) == 1 else [section, name]


def open_tab(page: Any, name: str) -> None:
    """Click the way to the tab called `name`, as far as it is not open already."""
    for label in ways_to(name):
        button = page.get_by_role("tab", name=label, exact=True)
        if button.get_attribute("aria-selected") != "true":
            button.click()


def opened_tab(page: Any) -> Any:
    """The tab that is open; that of a section with no other is not shown as a tab."""
    return page.locator("#tabs [role=tab][aria-selected=true]")
