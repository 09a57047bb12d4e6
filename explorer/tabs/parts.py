"""Several views in one tab, one in sight at a time; and views that take long, with a button and a way to stop."""

from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.base.cache import OnceCache
from explorer.base.errors import ExplorerError
from explorer.base.steps import finished, map_steps
from explorer.page.components import Notice
from explorer.page.wiring import TRAINING, Page, Tab, Updates, View

QUICK = 60e9
"""Multiplications that are done without asking: about a second on two cores."""

_results: OnceCache[Hashable, Any] = OnceCache(64)


@dataclass(eq=False)
class Part:
    """One view of a tab: `show(view, *controls)` gives the new values of `outputs`.

    `unless(view)` says in a sentence why there is nothing to see, or "".
    """

    label: str
    column: gr.Column
    show: Callable[..., Updates]
    outputs: Sequence[gr.components.Component]
    controls: Sequence[gr.components.Component] = ()
    unless: Callable[[View], str] = lambda view: ""


def one_at_a_time(
    page: Page,
    tab: Tab,
    which: gr.Radio,
    hint: Notice,
    parts: Sequence[Part],
    always: Callable[[View, str], Updates] = lambda view, chosen: {},
    more: Sequence[gr.components.Component] = (),
) -> Callable[..., Updates]:
    """Show the part that the radio names; only that one is computed.

    `always(view, chosen)` gives the values of `more`, whatever is chosen. Returns the handler, which takes what
    `tab.controls` are and gives what `tab.outputs` are.
    """
    which.choices = [(part.label, part.label) for part in parts]
    controls = [which, *(control for part in parts for control in part.controls)]
    outputs = [hint, *more, *(part.column for part in parts), *(item for part in parts for item in part.outputs)]
    outputs = list(dict.fromkeys(outputs))

    def show(view: View, chosen: str, *values: Any) -> Updates:
        first = 0
        for part in parts:
            if part.label == chosen:
                break
            first += len(part.controls)
        updates = {**always(view, chosen), **{other.column: gr.Column(visible=other is part) for other in parts}}
        if why := part.unless(view):
            return {**updates, part.column: gr.Column(visible=False), hint: why}
        try:
            return {**updates, hint: "", **part.show(view, *values[first : first + len(part.controls)])}
        except ExplorerError as error:
            return {**updates, hint: {"text": str(error), "kind": "error"}}

    tab.shows(show, outputs, controls)
    page.on_switch([which.input], show, outputs, controls)
    return show


@dataclass(eq=False)
class Slow:
    """A computation of many passes: done at once where it is quick, else on a button, with its progress in `status`.

    `steps(view, *controls)` yields the share done and returns the result, which `draw(view, result, *controls)` turns
    into updates and `clear()` takes away. `passes(view)` says how many forward passes it is worth.
    """

    name: str
    start: gr.Button
    stop: gr.Button
    status: Notice
    passes: Callable[[View], float]
    steps: Callable[..., Generator[float, None, Any]]
    draw: Callable[..., Updates]
    clear: Callable[[], Updates]

    @property
    def outputs(self) -> list[gr.components.Component]:
        """What `show` changes besides the picture."""
        return [self.start, self.stop, self.status]

    def idle(self) -> Updates:
        """Nothing to start and nothing running."""
        return {self.start: gr.Button(visible=False), self.stop: gr.Button(visible=False), self.status: ""}

    def show(self, view: View, *controls: Any) -> Updates:
        """The picture, when it is there or quickly made; else the button that makes it."""
        key = self._key(view, *controls)
        result = _results.peek(key)
        if result is None and quick(view, self.passes(view)):
            result = _results.get(key, lambda: finished(self.steps(view, *controls)))
        if result is None:
            passes = round(self.passes(view))
            waits = f"This takes about as long as {passes:,} runs of the model, so it waits for you."
            return {**self.idle(), self.start: gr.Button(visible=True), self.status: waits, **self.clear()}
        return {**self.idle(), **self.draw(view, result, *controls)}

    def known(self, view: View, *controls: Any) -> Any | None:
        """The result if it is there already."""
        return _results.peek(self._key(view, *controls))

    def wire(self, page: Page, outputs: Sequence[gr.components.Component], controls: Sequence[Any]) -> None:
        """Let the buttons start and stop it; `outputs` and `controls` are those of `draw`."""

        def run(view: View, *values: Any) -> Iterator[Updates]:
            steps = self.steps(view, *values)
            yield {self.start: gr.Button(visible=False), self.stop: gr.Button(visible=True)}
            result = yield from map_steps(steps, lambda share: {self.status: f"{share:.0%} done."})
            _results.get(self._key(view, *values), lambda: result)
            yield {**self.draw(view, result, *values), self.stop: gr.Button(visible=False), self.status: ""}

        running = page.on([self.start.click], run, [*self.outputs, *outputs], controls, **TRAINING)
        stopped = {self.start: gr.update(visible=True), self.stop: gr.update(visible=False), self.status: "Stopped."}
        cancelled = self.stop.click(None, cancels=[running], api_visibility="private")
        # After it, not with it: the last progress is still on its way.
        page.run(cancelled.then, lambda: stopped, self.outputs)

    def _key(self, view: View, *controls: Any) -> Hashable:
        return (self.name, view.model_name, view.text_a, view.text_b, view.selection.token, *map(str, controls))


def slow_buttons(label: str) -> tuple[gr.Button, gr.Button, Notice]:
    """The parts of a Slow that are seen: start, stop, and its progress."""
    with gr.Row(elem_classes="controls"):
        start = gr.Button(label, size="sm", visible=False)
        stop = gr.Button("Stop", size="sm", visible=False)
        status = Notice()
    return start, stop, status


def quick(view: View, passes: float) -> bool:
    """Whether so many forward passes over this input are done in about a second."""
    can = view.model.capabilities
    return 12 * can.layers * can.hidden_size**2 * view.trace.kept * passes <= QUICK


def check_line(error: float, what: str, limit: float = 1e-3) -> dict[str, str]:
    """The proof below a picture: ✓ and the largest error, or ✗ in red."""
    fine = error <= limit
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    size = f"{error:.0e}" if error else "0"
    return {"text": f"{mark}: {what} (max error {size}).", "kind": "info" if fine else "error"}


def no_blank(view: View) -> str:
    """Why nothing can be said of a blank, or ""."""
    return "" if view.trace.mask_positions else "No blank yet: click a word to hide it."


def asked_blank(view: View) -> int:
    """The [MASK] in question: the chosen token if it is one, else the first."""
    blanks = view.trace.mask_positions
    return view.selection.token if view.selection.token in blanks else blanks[0]
