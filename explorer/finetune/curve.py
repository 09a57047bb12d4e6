"""The learning curve: the same head after 25 examples, 50, 100 and so on."""

from collections.abc import Generator
from typing import Any

from explorer.core.steps import map_steps
from explorer.finetune.compute.learning_curve import Point, learning_curve
from explorer.finetune.compute.training import make_plan
from explorer.finetune.example_settings import ExampleSettings
from explorer.finetune.over_examples import OverExamples
from explorer.finetune.pictures.training import examples_curve
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject
from explorer.ui.view import Content, chart, sentence

SEEDS = 3
METHOD = f"A linear head on the mean of the last hidden state, and a bag of words, on parts of the examples; {SEEDS} splits each."


class LearningCurve(OverExamples, ExampleSettings):
    """Held-out accuracy by the number of examples, beside a bag of words."""

    name, question = "fine-tune/curve", "How many examples does it need?"
    folded = question
    width = 5
    start = "Train on more and more of them"
    about = sentence(keep_height=True)
    curve = chart("Accuracy by the number of examples", height=280)

    def work(self, subject: Subject) -> Generator[Any, None, list[Point]]:
        """Train repeatedly."""
        examples, _ = self.examples()
        task = self.task(subject.model, examples, make_plan(subject.model, -1, "mean"))
        return (yield from map_steps(learning_curve(task, SEEDS), lambda step: (f"{step[1]} {step[0]:.0%}.", step[0])))

    def waiting(self, subject: Subject) -> Content:
        """A sentence on what will be done."""
        return {"about": METHOD, "curve": None}

    def draw(self, subject: Subject, found: list[Point]) -> Content:
        """Both curves, and where BERT is ahead."""
        fields = ("examples", "score", "deviation", "words", "words_deviation")
        return {"curve": examples_curve(*([getattr(point, name) for point in found] for name in fields)), "about": _told(found)}


def _told(points: list[Point]) -> str:
    """The curve in a sentence."""
    first, last = points[0], points[-1]
    if first is last:
        return f"With all {last.examples} examples {whole_percent(last.score)}; a bag of words {whole_percent(last.words)}."
    text = f"With {first.examples} examples {whole_percent(first.score)}, with all {last.examples:,} {whole_percent(last.score)}"
    matched = next((point.examples for point in points if point.score >= last.words), None)
    if matched is not None and matched < last.examples:
        return f"{text}. {matched} examples are as good as all {last.examples:,} are to a bag of words."
    return f"{text}; a bag of words {whole_percent(first.words)} and {whole_percent(last.words)}."
