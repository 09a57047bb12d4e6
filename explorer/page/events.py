"""How the page listens: one way for every handler to be run, and what the browser does before it is."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.api.callers import bounded
from explorer.api.gradio_seams import event_of, follows_another, is_update
from explorer.api.handlers import friendly
from explorer.base.scheduling import MODEL
from explorer.views.subject import Selection, Subject

DRAW = "() => BertPage.draw()"  # what is open is to be drawn
CHOSEN = "(...values) => BertPage.chosen(values)"  # for dropdowns: when something is chosen there, not when they are only left
BURST = 2.0  # seconds in which steps of one listener may reach the browser together
Triggers = functools.partial | Sequence[Callable]  # `earlier.success` or an event of our own components, or a list of events
Updates = dict[Any, Any]  # new values by component; what is not named stays as it is
Values = dict[Any, Any]  # the values of components, by component: nothing depends on their order
# Without a place for its progress, too: at every step of every event the browser goes through all places that ever had one.
QUIET = {"api_visibility": "private", "show_progress": "hidden", "show_progress_on": [], **MODEL}


def typed_in(*boxes: gr.Textbox) -> dict[str, str]:
    """Options for a listener to the `change` of text boxes: it runs once for what a person types, pastes or deletes there.

    (`input` tells only of keys that write a letter.) What the page itself sets is drawn by whoever sets it.
    """
    selector = ", ".join(f"#{box.elem_id}" for box in boxes)
    return {"js": f"(...values) => BertPage.typed(values, '{selector}')", "trigger_mode": "multiple"}


def run(
    triggers: Triggers, handler: Callable, outputs: Iterable[Any], inputs: Iterable[Any] = (), **options: Any
) -> gr.events.Dependency:
    """Run `handler(values)` when one of the triggers fires: it gets the values of `inputs` by component."""
    listen = triggers if isinstance(triggers, functools.partial) else functools.partial(gr.on, list(triggers))
    settings = {**QUIET, **_options_for(triggers), **options}
    handler = kept_together(handler) if inspect.isgeneratorfunction(handler) else handler
    handler = bounded(handler, settings["concurrency_id"])
    return listen(friendly(handler), set(inputs), list(dict.fromkeys(outputs)), **settings)


def kept_together(handler: Callable[..., Iterator[Updates]]) -> Callable[..., Iterator[Updates]]:
    """What was new a moment ago is said again in the next step.

    Gradio's client makes each step of the one before by changing it in place, before it has shown it if both come at
    once: what the later one leaves alone would never be seen. States do not travel, and others may set them meanwhile.
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


def run_picked(
    triggers: Triggers, handler: Callable, outputs: Iterable[Any], inputs: Iterable[Any] = (), **options: Any
) -> gr.events.Dependency:
    """Like `run`, for something that was clicked: `handler(values, event)`."""

    def picked(values: Values, event: gr.SelectData) -> Any:
        return handler(values, event)

    def picked_on(values: Values, event: gr.SelectData) -> Iterator[Any]:
        yield from handler(values, event)

    # Every quick click counts. Gradio's default drops what comes while one is worked on, and
    # "always_last" repeats the click that was under way instead of the last one.
    settings = {"trigger_mode": "multiple", **options}
    return run(triggers, picked_on if inspect.isgeneratorfunction(handler) else picked, outputs, inputs, **settings)


def then(event: gr.events.Dependency, js: str) -> None:
    """Run a script after an event, also after one that failed, which Gradio's `then` alone leaves out."""
    for ended in (event.then, event.failure):
        ended(None, js=js, api_visibility="private")


def merge(*changes: Updates) -> Updates:
    """All of them, later ones over earlier ones; what an update leaves alone stays as an earlier one has it."""
    merged: Updates = {}
    for component, new in (item for updates in changes for item in updates.items()):
        old = merged.get(component)
        if component in merged and (is_update(old) or is_update(new)):
            new = _as_update(old) | _as_update(new)
        merged[component] = new
    return merged


def _as_update(value: Any) -> dict[str, Any]:
    return value if is_update(value) else gr.update(value=value)


def plain(value: Any) -> Any:
    """The value in an update."""
    return value.get("value") if is_update(value) else value


def _options_for(triggers: Triggers) -> dict[str, str]:
    """What a listener needs by default, so that the last choice counts, even one made while an earlier is worked on.

    (By default, Gradio drops what happens while the same listener is at work.)
    """
    if isinstance(triggers, functools.partial):
        return {"trigger_mode": "always_last"} if follows_another(triggers.func) else {}
    events = [event_of(trigger) for trigger in triggers]
    if not any(name in ("input", "release") for name, _ in events):
        return {}
    with_menu = any(isinstance(component, gr.Dropdown) for _, component in events)
    return {"trigger_mode": "always_last"} | ({"js": CHOSEN} if with_menu else {})


@dataclass(frozen=True, eq=False)
class Inputs:
    """The components that a subject is made of."""

    model_name: gr.Textbox
    text_a: gr.Textbox
    text_b: gr.Textbox
    selection: gr.State

    @property
    def all(self) -> list[gr.components.Component]:
        """All of them."""
        return [self.model_name, self.text_a, self.text_b, self.selection]

    def subject(self, values: Values) -> Subject:
        """What the page is about now."""
        chosen: Selection = values[self.selection]
        return Subject(values[self.model_name], values[self.text_a] or "", values[self.text_b] or "", chosen)
