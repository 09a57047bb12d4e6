"""Event listeners: one way to run every handler, and what the browser does before it runs."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.api.callers import bound, friendly
from explorer.api.gradio_seams import event_of, is_update, page_being_built
from explorer.core.scheduling import MODEL
from explorer.ui.subject import Selection, Subject

DRAW = "() => BertExplorer.page.draw()"  # redraw what is open
CHOSEN = "(...values) => BertExplorer.page.chosen(values)"  # for dropdowns: only when an item is chosen, not when the box is left
BURST = 2.0  # seconds within which steps of one listener may reach the browser together
Triggers = functools.partial | Sequence[Callable]  # `earlier.success` or an event of our own components, or a list of events
Updates = dict[Any, Any]  # new values by component; components not named keep theirs
Values = dict[Any, Any]  # component values by component, so that their order does not matter
# No progress indicator either: at every step of every event the browser visits all components that ever had one.
QUIET = {"api_visibility": "private", "show_progress": "hidden", "show_progress_on": [], **MODEL}


def typed_in(*boxes: gr.Textbox) -> dict[str, str]:
    """Options for a listener to the `change` of text boxes: it runs once for what the user types, pastes or deletes.

    (`input` only reports keys that write a letter.) Values set by the page itself are drawn by the code that sets them.
    """
    selector = ", ".join(f"#{box.elem_id}" for box in boxes)
    return {"js": f"(...values) => BertExplorer.page.typed(values, '{selector}')", "trigger_mode": "multiple"}


def run(
    triggers: Triggers, handler: Callable, outputs: Iterable[Any], inputs: Iterable[Any] = (), **options: Any
) -> gr.events.Dependency:
    """Run `handler(values)` when one of the triggers fires; `values` holds the values of `inputs` by component.

    For clicks in a component of our own it is `handler(values, event: gr.SelectData)`.
    """
    listen = triggers if isinstance(triggers, functools.partial) else functools.partial(gr.on, list(triggers))
    settings = {**QUIET, **_options_for(triggers), **options}
    handler = keep_together(handler) if inspect.isgeneratorfunction(handler) else handler
    handler = bound(handler, settings["concurrency_id"])
    return listen(friendly(handler), set(inputs), list(dict.fromkeys(outputs)), **settings)


def keep_together(handler: Callable[..., Iterator[Updates]]) -> Callable[..., Iterator[Updates]]:
    """Make a generator repeat its updates of the last BURST seconds in each step.

    Gradio's client applies a step to the previous one in place, even before that was shown: of two steps that arrive together,
    what the later one does not set would never be seen. States stay on the server, and other handlers may set them meanwhile.
    """

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Updates]:
        fresh: list[tuple[float, Updates]] = []
        for updates in handler(*arguments, **named):
            now = time.monotonic()
            fresh = [(told, old) for told, old in fresh if now - told < BURST]
            yield merge(*(old for _, old in fresh), updates)
            fresh.append((now, {one: new for one, new in updates.items() if not isinstance(one, gr.State)}))

    return run_on


def then(event: gr.events.Dependency, name: str) -> None:
    """Have the browser call `name` of `BertExplorer.page` when a call of this event has ended, even one that failed.

    Gradio's own `then` and `failure` would be two more listeners for each event.
    """
    page_being_built().ends[event["id"]] = name


def merge(*changes: Updates) -> Updates:
    """All updates in one, later ones over earlier ones; properties that a later update does not set are kept."""
    merged: Updates = {}
    for updates in changes:
        for component, new in updates.items():
            if component in merged and (is_update(merged[component]) or is_update(new)):
                new = _as_update(merged[component]) | _as_update(new)
            merged[component] = new
    return merged


def _as_update(value: Any) -> dict[str, Any]:
    return value if is_update(value) else gr.update(value=value)


def plain(value: Any) -> Any:
    """The value inside an update."""
    return value.get("value") if is_update(value) else value


def _options_for(triggers: Triggers) -> dict[str, str]:
    """Default options that make every quick click count, and of other events the last, even one while an earlier one is handled.

    By default, Gradio drops events while their listener runs; "always_last" would repeat the click being handled.
    """
    if isinstance(triggers, functools.partial):
        return {"trigger_mode": "multiple" if event_of(triggers.func)[0] else "always_last"}
    events = [event_of(trigger) for trigger in triggers]
    if any(name == "select" for name, _ in events):
        return {"trigger_mode": "multiple"}
    if not any(name in ("input", "release") for name, _ in events):
        return {}
    with_menu = any(isinstance(component, gr.Dropdown) for _, component in events)
    return {"trigger_mode": "always_last"} | ({"js": CHOSEN} if with_menu else {})


@dataclass(frozen=True, eq=False)
class Inputs:
    model_name: gr.Textbox
    text_a: gr.Textbox
    text_b: gr.Textbox
    selection: gr.State

    @property
    def all(self) -> list[gr.components.Component]:
        return [self.model_name, self.text_a, self.text_b, self.selection]

    def subject(self, values: Values) -> Subject:
        chosen: Selection = values[self.selection]
        return Subject(values[self.model_name], values[self.text_a] or "", values[self.text_b] or "", chosen)
