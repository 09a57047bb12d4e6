"""A place in the app: an input, a selection, and the views that are shown. Links and exports are made from it."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from explorer.tabs import FIRST_TAB, TABS
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab, views_in
from explorer.ui.view import View, open_on

VERSION = 1  # of links
SETTING = "set."  # before the name of a setting


@dataclass(frozen=True)
class Place:
    """What a link describes: the input and selection, and the views shown together with their settings."""

    subject: Subject
    tab: str  # its id
    choice: str  # the label of the tab's choice
    views: tuple[View, ...]
    told: tuple[str, ...] = field(default=(), compare=False)  # a sentence for each parameter that could not be followed
    part: str = field(default="", compare=False)  # the part to export, if only one

    @property
    def name(self) -> str:
        """The place as part of a file name."""
        return "-".join(filter(None, (self.tab, slug(self.choice) if len(tab_of(self.tab).choices) > 1 else "")))

    @cached_property
    def settings(self) -> dict[str, str]:
        """The settings that differ from their defaults, as texts; views share settings of the same name."""
        return self._written(with_files=False)

    @property
    def remembered(self) -> dict[str, str]:
        """The settings that only this browser knows, such as the run: its requests carry them, and no link does."""
        return self._written(with_files=True)

    def _written(self, with_files: bool) -> dict[str, str]:
        written: dict[str, str] = {}
        for view in self.views:
            for name, value in view.list_changes(with_files).items():
                written.setdefault(name, view.settings[name].write(value))
        return written

    def opened(self) -> "Place":
        """The place with the layer and head that its views open with, if none was picked. Raises ExplorerError."""
        return replace(self, subject=open_on(self.views, self.subject))


def slug(label: str) -> str:
    """A choice's label as links and file names have it."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


_BY_ID = {tab.id: tab for tab in TABS}


def tab_of(name: str) -> Tab:
    """The tab with this id, else the first."""
    return _BY_ID.get(name, _BY_ID[FIRST_TAB])


def seen_in(tab: Tab, choice: str) -> list[type[View]]:
    """The views that are shown together in a choice of a tab."""
    return list(dict.fromkeys([*tab.above, *views_in(tab.choices[choice])]))


def where(kind: type[View]) -> tuple[Tab, str]:
    """The tab of a view, and the first choice that shows it."""
    return next((tab, choice) for tab in TABS for choice in tab.choices if kind in seen_in(tab, choice))
