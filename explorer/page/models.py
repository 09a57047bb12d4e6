"""The box to choose a model: its list, a few words about each model, and the progress of downloads."""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer, load
from explorer.bert.hub import EXAMPLE_ID
from explorer.core import jobs
from explorer.core.errors import ExplorerError
from explorer.core.steps import map_steps, relay
from explorer.page.components import Drawn, Meter, Notice
from explorer.page.events import Updates, Values
from explorer.ui.pictures.bars import meter

MOST_RECENT = 6
OPENING = "opening for {}"  # a session's job


@dataclass(frozen=True, eq=False)
class ModelBox:
    """The model box and its helpers. The model in use is held apart from the box, which may hold half-typed text."""

    in_use: gr.Textbox
    box: gr.Dropdown
    known: gr.Textbox  # a few words about each model in the list, as JSON
    recent: gr.BrowserState  # the names of the models opened last
    refused: gr.State  # whether the last model asked for was refused, so that its message stays
    under_way: gr.Row  # shown during a download:
    fetching: Drawn
    stop: gr.Button

    @classmethod
    def build(cls, in_use: gr.Textbox) -> "ModelBox":
        """Make it in the current Gradio context, except the row with the progress, which the caller renders."""
        look = {"label": "Model", "elem_id": "model-box", "min_width": 220, "allow_custom_value": True}
        box = gr.Dropdown([checkpoints.default_name()], value=checkpoints.default_name(), **look)  # more when a page opens
        known = gr.Textbox("{}", visible="hidden", elem_id="models")
        recent = gr.BrowserState([], storage_key="bert-explorer-models", secret="bert-explorer")  # not a secret: in every page
        with gr.Row(visible=False, elem_id="under-way", render=False) as under_way:
            fetching = Meter(elem_id="fetching")
            stop = gr.Button("Stop", size="sm", min_width=90, scale=0, elem_id="stop-fetching")
        return cls(in_use, box, known, recent, gr.State(False), under_way, fetching, stop)

    def choosing(self, name: str, values: Values, opened: bool = False) -> Updates:
        """The box set to a model, with its list: the models of every page, and those that this browser opened last."""
        stored = values[self.recent] if isinstance(values[self.recent], list) else []
        recent = [known for known in dict.fromkeys([*([name] if opened else []), *stored]) if checkpoints.is_name(known)]
        recent = recent[:MOST_RECENT]
        offered = [checkpoints.default_name(), checkpoints.BUNDLED, EXAMPLE_ID, *checkpoints.list_cached()]
        names = list(dict.fromkeys([*offered, *filter(checkpoints.is_here, recent)]))  # those that are still on this machine
        about = json.dumps({name: checkpoints.describe(name) for name in names})
        return {self.box: gr.Dropdown(names, value=name), self.known: about, self.recent: recent}

    def progress(self, step: tuple[float, str] | None) -> Updates:
        """The progress of a download: a share, 0 to 1, and a sentence; None hides it."""
        return {self.fetching: meter(step[1], step[0]) if step else None, self.under_way: gr.Row(visible=step is not None)}

    def opening(
        self, name: Any, values: Values, notice: Notice, fit: Callable[[Any], Updates], session: str | None
    ) -> Generator[Updates, None, None]:
        """Open a model for a session, step by step; if that fails, say why in the notice.

        `fit(model)` returns what else changes with the model.
        """

        def progress(step: tuple[float, str] | None) -> Updates:
            if stop.is_set():
                raise ExplorerError("Stopped. The downloaded part is kept, and")
            return self.progress(step)

        try:
            with jobs.job(OPENING.format(session)) as stop:

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


def stop_opening(session: str | None) -> None:
    """Stop the session's download. (Gradio's own cancel would ignore the next choice.)"""
    jobs.stop(OPENING.format(session))
