"""The tabs of the page as the server sees them on one input, without a server; and what is sent to a browser."""

import functools
import itertools
import json
from typing import Any

from explorer.bert.explorer import Explorer
from explorer.bert.trace import Reading, Trace
from explorer.page.listening import apply
from explorer.page.shell import Shell, build_shell
from explorer.page.tab import TabPage
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import select
from tests.benchmarks.base_model import text_of

fresh = itertools.count()


class Opened:
    """The page's tabs as the server sees them, on one input."""

    def __init__(self, model: Explorer, tokens: int) -> None:
        self.model, self.texts = model, (text_of(tokens), "")
        self.shell = built_shell()
        self.encoding = model.encode(*self.texts)
        assert self.encoding.kept == tokens
        self.trace = self.forward_pass()

    def forward_pass(self) -> Trace:
        """What the model itself does with the input."""
        return Trace.of(self.model, self.encoding)

    def subject(self, **chosen: Any) -> Subject:
        """The input on the page, its trace in the cache."""
        subject = Subject(self.model.name, *self.texts, Selection(**chosen))
        vars(subject)["trace"] = self.trace  # the forward pass is what this is compared with
        return subject

    def show(self, tab: str = "attention", choice: str = "") -> int:
        """Everything a tab does when it opens, on a trace of which nothing was derived yet; the bytes it sends."""
        self.trace = Trace(self.model, Reading(self.encoding, self.trace.states))
        page = self.shell.tabs[tab]
        return sent(page.show(self.subject(), values_of(page, choice)))

    def change_head(self) -> int:
        """The bytes that a click on another picture sends."""
        number, page = next(fresh), self.shell.tabs["attention"]
        grid = next(panel for panel in page.panels if panel.view.name == "attention/heads")
        change = select(layer=number // 12 % 12 + 1, head=number % 12 + 1)
        return sent(apply(page, grid, self.subject(), values_of(page), change, grid.parts["grid"]))


def values_of(page: TabPage, choice: str = "") -> dict[Any, Any]:
    """The values that the controls of a tab open with, and which of its choices is open."""
    values = {control: control.value for control in page.controls.values()}
    return values | ({page.which: choice or page.which.value} if page.which else {})


@functools.cache
def built_shell() -> Shell:
    """The page with its tabs, without a server."""
    return build_shell()[1]


def sent(updates: dict[Any, Any]) -> int:
    """The bytes of what Gradio sends for these updates."""
    return sum(len(json.dumps(_as_sent(component, value))) for component, value in updates.items())


def _as_sent(component: Any, value: Any) -> Any:
    if isinstance(value, dict) and value.get("__type__") == "update":
        return {key: _as_sent(component, part) if key == "value" else part for key, part in value.items()}
    if hasattr(value, "get_config"):  # a component that stands for an update
        return dict(value.constructor_args)
    data = component.postprocess(value)
    return data.model_dump() if hasattr(data, "model_dump") else data if _plain(data) else str(data)


def _plain(data: Any) -> bool:
    return data is None or isinstance(data, (str, int, float, list, dict, bool))


VIEWS = [
    ("overview", ""),
    ("tokens", ""),
    ("attention", ""),
    ("attention", "Several heads"),
    ("attention", "All heads by numbers"),
    ("attention", "Through all layers"),
    ("inside-head", ""),
    ("inside-head", "The whole layer"),
    ("inside-head", "If it were a decoder"),
    ("inside-head", "Positions"),
]
