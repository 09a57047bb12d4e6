"""A probe of every hidden state, on all chosen examples."""

from collections.abc import Generator, Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from explorer.core.errors import InputError
from explorer.core.steps import map_steps
from explorer.finetune.kinds import TEXTS
from explorer.finetune.sources import LABELLED, ExampleSettings
from explorer.training.examples import Examples, ScoredExamples
from explorer.training.probe import LayerProbe, probe
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.state_lines import probe_lines
from explorer.ui.subject import Subject
from explorer.ui.telling import interval
from explorer.ui.view import Content, chart, sentence

SEEDS = 5
FEW = 30  # different sentences held out in all splits, below which an interval is wider than most differences of layers


class Probe(LongView, ExampleSettings):
    name, question = "fine-tune/probe", "Which layer knows the labels?"
    folded, start = "Which layer knows the labels?", "Ask every layer"
    names: ClassVar[Sequence[str]] = ()  # the boxes for the examples are in another view
    about = sentence(keep_height=True)
    curve = chart("Accuracy of a probe by layer", height=300)

    def passes(self, subject: Subject) -> float:
        """Infinite, so that it always waits for its button: it reads all examples, and needs no text."""
        return float("inf")

    def key(self, subject: Subject) -> Hashable:
        try:
            return self.name, subject.model_name, self.examples()[0]
        except InputError:
            return self.name, subject.model_name, None

    def waiting(self, subject: Subject) -> Content:
        method = f"A linear head on every hidden state, {SEEDS} splits each, and the same with the labels shuffled."
        return {"about": f"{method} The band is the 95% interval.", "curve": None}

    def work(self, subject: Subject) -> Generator[Any, None, tuple[list[LayerProbe], Examples]]:
        if self.kind != TEXTS or isinstance(examples := self.texts()[0], ScoredExamples):
            raise InputError(f"The probe learns {LABELLED}.")
        steps = probe(subject.model, examples, "mean", SEEDS)
        return (yield from map_steps(steps, lambda step: (f"{step[1]} {step[0]:.0%}.", step[0]))), examples

    def draw(self, subject: Subject, found: tuple[list[LayerProbe], Examples]) -> Content:
        rows, examples = found
        accuracy, low, high, control = np.array([(row.accuracy, row.low, row.high, row.control_accuracy) for row in rows]).T
        usual = np.full(len(rows), max(examples.counts.values()) / len(examples))
        references, best = {"shuffled labels": control, "the most frequent label": usual}, int(accuracy.argmax())
        drawn = probe_lines(accuracy, (low, high), references, best, "held-out texts labelled right")
        return {"curve": drawn, "about": tell(rows)}


def tell(rows: list[LayerProbe]) -> str:
    best = max(rows, key=lambda row: row.accuracy)
    ends = interval(best.low, best.high)
    text = (
        f"Best at hidden state {best.layer}: {percent(best.accuracy)} (95% interval {ends} over {best.sentences:,} different "
        f"held-out texts, {SEEDS} splits), mean over tokens; {percent(best.control_accuracy)} with "
        "shuffled labels, which is what chance reaches."
    )
    if best.sentences < FEW:
        text += f" So few held-out texts ({best.sentences}) cannot rank the layers: add examples."
    elif rivals := sum(row.high >= best.low for row in rows) - 1:
        text += f" Its interval overlaps with those of {rivals} of the {len(rows) - 1} other hidden states."
    return text
