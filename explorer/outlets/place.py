"""What a link says and every way out of a view starts from: an input, what is selected, and the views that are seen."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from explorer.views import FIRST_TAB, TABS
from explorer.views.subject import Subject
from explorer.views.view import Tab, View, open_on, views_in

VERSION = 1  # of links
SETTING = "set."  # before the name of a setting


@dataclass(frozen=True)
class Place:
    """What a link says: the input and what is selected, and the views that are seen together, with their settings."""

    subject: Subject
    tab: str  # its id
    choice: str  # the label of what is chosen in the tab
    views: tuple[View, ...]
    told: tuple[str, ...] = field(default=(), compare=False)  # a sentence for all that a link asked for in vain
    part: str = field(default="", compare=False)  # of the views, where one of them alone is to be taken away

    @property
    def name(self) -> str:
        """The place in a file's name."""
        return "-".join(filter(None, (self.tab, slug(self.choice) if len(tab_of(self.tab).choices) > 1 else "")))

    @cached_property
    def settings(self) -> dict[str, str]:
        """The settings that are not as declared, as they are written; views that name one alike share it."""
        written: dict[str, str] = {}
        for view in self.views:
            for name, value in view.changed().items():
                written.setdefault(name, view.settings[name].written(value))
        return written

    def opened(self) -> "Place":
        """With the layer and head that the views open with, where nobody picked one. Raises ExplorerError."""
        return replace(self, subject=open_on(self.views, self.subject))


def slug(label: str) -> str:
    """The label of a choice as a link and a file name carry it."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


def tab_of(name: str) -> Tab:
    """The tab with this id, or the first that is seen."""
    return next((tab for tab in TABS if tab.id == name), next(tab for tab in TABS if tab.id == FIRST_TAB))


def seen_in(tab: Tab, choice: str) -> list[type[View]]:
    """The views that are seen together in a choice of a tab."""
    return list(dict.fromkeys([*tab.above, *views_in(tab.choices[choice])]))


def where(kind: type[View]) -> tuple[Tab, str]:
    """The tab of a view, and the first of its choices that it is seen in."""
    return next((tab, choice) for tab in TABS for choice in tab.choices if kind in seen_in(tab, choice))
