"""A live view in a notebook: clicks mean the same as in the app, and the running Python answers them."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from explorer.bert.trace import Trace
from explorer.core.errors import ExplorerError, InputError
from explorer.core.lazy import anywidget, traitlets
from explorer.core.paths import ASSETS
from explorer.export.contents import part_as_data
from explorer.export.notebook import asked, theme_named
from explorer.export.page_file import data_of, page
from explorer.ui.view import Change, View, open_on, takes_customdata

FRAME = "live"


def live(trace: Trace, view: str = "attention/heads", *more: str, theme: str = "", **settings: Any) -> Any:
    """One view or several together as a widget, whose clicks Python answers as the app does.

    Arguments and errors are those of `explorer.show`. It needs anywidget; an InputError says how to install it.
    """
    views, subject = asked(trace, (view, *more), settings)
    return _widget()(LiveView(views, subject, theme_named(theme)))


class LiveView:
    """The state of a live view: what it shows, and how a click changes it."""

    def __init__(self, views: list[View], subject: Any, theme: str = "") -> None:
        self.views, self.subject, self.theme = views, open_on(views, subject), theme

    def page(self, content: Mapping[tuple[str, str], Any] | None = None) -> str:
        """The page's HTML; `content` holds the parts that the last click changed, by (view name, part name)."""
        side = data_of(self.views, self.subject, wait=True, live=True)
        for one in side["views"]:
            changed = {part: value for (view, part), value in (content or {}).items() if view == one["name"]}
            one["parts"] = [part for part in one["parts"] if part["name"] not in changed] + list(filter(None, changed.values()))
        return page([side], self.theme, FRAME, live=True)

    def click(self, told: Mapping[str, Any]) -> str | None:
        """The page after a click on a part of a view; None if the click has no meaning."""
        view = next((one for one in self.views if one.name == told.get("view")), None)
        part = view.parts.get(str(told.get("part"))) if view is not None else None
        if view is None or part is None:
            return None
        event = "" if told.get("event") == "select" else f"_{told.get('event')}"
        method = getattr(view, f"on_{told['part']}{event}", None)
        if method is None or inspect.isgeneratorfunction(method):
            return None
        change = method(self.subject, told.get("customdata" if takes_customdata(method) else "index"))
        return self._after(view, change)

    def _after(self, clicked: View, change: Change) -> str:
        if change.selection:
            self.subject = self.subject.select(**change.selection)
        if change.settings:
            own = [{name: value for name, value in change.settings.items() if name in one.settings} for one in self.views]
            self.views = [replace(one, **settings) for one, settings in zip(self.views, own, strict=True)]
        drawn = {name: value for name, value in change.content.items() if name in clicked.parts}
        return self.page(
            {(clicked.name, name): part_as_data(name, clicked.parts[name], {name: value}) for name, value in drawn.items()}
        )


@cache
def _widget() -> Any:
    """The widget's class, made when it is first needed."""
    try:
        anywidget.AnyWidget  # noqa: B018 - imports it
    except ImportError as error:
        raise InputError("A live view needs anywidget; run pip install anywidget, or use explorer.show.") from error

    class Live(anywidget.AnyWidget):
        """A frame with the page, which sends clicks back to Python."""

        _esm = ASSETS / "file" / "live.js"
        page = traitlets.Unicode().tag(sync=True)
        title = traitlets.Unicode().tag(sync=True)

        def __init__(self, view: LiveView) -> None:
            super().__init__(page=view.page(), title=view.views[0].question)
            self.view = view
            self.on_msg(self._told)

        def _told(self, _: Any, content: Mapping[str, Any], __: Any) -> None:
            try:
                drawn = self.view.click(content)
            except ExplorerError:  # the picture stays as it is
                return
            if drawn is not None:
                self.page = drawn

    return Live
