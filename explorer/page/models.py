"""The box in which a model is chosen: what is known of those in its list, and how far one is that has to be fetched."""

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.base.errors import ExplorerError
from explorer.base.steps import map_steps, relay
from explorer.figures.bars import meter
from explorer.model import checkpoints
from explorer.model.explorer import Explorer, load
from explorer.page.components import Meter, Notice
from explorer.page.events import Updates, Values
from explorer.training import jobs

MOST_RECENT = 6


@dataclass(frozen=True, eq=False)
class ModelBox:
    """The box and what belongs to it. The model in use has a place of its own: the box may hold what is typed there."""

    in_use: gr.Textbox
    box: gr.Dropdown
    known: gr.Textbox  # a few words on each model in the list, as JSON
    recent: gr.BrowserState  # the names of those that were opened last
    refused: gr.State  # whether the one that was asked for last could not be had: what was said of it stays
    under_way: gr.Row  # while one is fetched:
    fetching: Meter
    stop: gr.Button

    @classmethod
    def build(cls, in_use: gr.Textbox) -> "ModelBox":
        """Make it where it stands, but for the row that tells how far a download is, which is to be rendered."""
        look = {"label": "Model", "elem_id": "model-box", "min_width": 220, "allow_custom_value": True}
        box = gr.Dropdown([checkpoints.default_name()], value=checkpoints.default_name(), **look)  # others when a page opens
        known = gr.Textbox("{}", visible="hidden", elem_id="models")
        recent = gr.BrowserState([], storage_key="bert-explorer-models", secret="bert-explorer")  # every page is told it
        with gr.Row(visible=False, elem_id="under-way", render=False) as under_way:
            fetching = Meter(elem_id="fetching")
            stop = gr.Button("Stop", size="sm", min_width=90, scale=0, elem_id="stop-fetching")
        return cls(in_use, box, known, recent, gr.State(False), under_way, fetching, stop)

    @property
    def outputs(self) -> list[Any]:
        """Everything that opening a model may change here."""
        return [self.in_use, self.box, self.known, self.recent, self.refused, self.under_way, self.fetching]

    def choosing(self, name: str, values: Values, opened: bool = False) -> Updates:
        """The box with a model in it, and the others to choose from, among them those that this browser opened last."""
        stored = values[self.recent] if isinstance(values[self.recent], list) else []
        recent = [one for one in dict.fromkeys([*([name] if opened else []), *stored]) if checkpoints.is_name(one)][:MOST_RECENT]
        names = _listed(recent)
        return {self.box: gr.Dropdown(names, value=name), self.known: _about(names), self.recent: recent}

    def progress(self, step: tuple[float, str] | None) -> Updates:
        """How far a download is, a share and a sentence; None when there is none."""
        return {self.fetching: meter(step[1], step[0]) if step else None, self.under_way: gr.Row(visible=step is not None)}

    def opening(
        self, name: Any, values: Values, notice: Notice, fit: Callable[[Any], Updates], session: str | None
    ) -> Generator[Updates, None, None]:
        """Open a model for a session, step by step, or tell in the notice why it is not.

        `fit(model)` is what else changes with it.
        """

        def progress(step: tuple[float, str] | None) -> Updates:
            if stop.is_set():
                raise _StoppedByHand("Stopped; what has come is kept, and")
            return self.progress(step)

        try:
            with jobs.job(_opening(session)) as stop:

                def read(report: Callable[[tuple[float, str]], None]) -> Explorer:
                    return load(name, lambda share, what: report((share, what)))

                model = yield from map_steps(relay(read), progress)
        except ExplorerError as error:
            current = values[self.in_use]
            told = f"{error} {current if checkpoints.is_name(current) else 'The model before'} stays."
            kind = "info" if stop.is_set() else "error"
            refusal = {notice: {"text": told, "kind": kind}, self.refused: True}
            yield {self.box: current, **refusal, **self.progress(None)}
            return
        chosen = {self.in_use: model.name, **self.choosing(model.name, values, opened=True)}
        yield {**chosen, notice: "", self.refused: False, **self.progress(None), **fit(model)}


class _StoppedByHand(ExplorerError):
    """A person wants a model no more."""


def stop_opening(session: str | None) -> None:
    """Let nothing more be fetched for a session. (Gradio's way to cancel leaves what is chosen next unheard.)"""
    jobs.stop(_opening(session))


def _opening(session: str | None) -> str:
    """The name of the job that opens a model for a session."""
    return f"opening for {session}"


def _listed(recent: Sequence[str]) -> list[str]:
    """The models to choose from: those that every page offers, and those opened last that are still here."""
    names = [checkpoints.default_name(), checkpoints.BUNDLED, checkpoints.EXAMPLE_ID, *checkpoints.cached()]
    return list(dict.fromkeys([*names, *filter(checkpoints.is_here, recent)]))


def _about(names: Sequence[str]) -> str:
    """What the browser adds to each name in the list."""
    return json.dumps({name: checkpoints.described(name) for name in names})
