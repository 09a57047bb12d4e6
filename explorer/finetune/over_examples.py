"""Long work on all chosen examples: a probe of every hidden state, and training on more and more of the examples."""

from collections.abc import Generator, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

from explorer.core.errors import InputError
from explorer.core.steps import map_steps
from explorer.finetune.compute.searches import Point, learning_curve
from explorer.finetune.compute.task import make_plan
from explorer.finetune.example_settings import READY, ExampleSettings
from explorer.finetune.pictures.training import examples_curve, probe_curve, tag_probe_curves
from explorer.finetune.words_examples import WordExampleSettings
from explorer.training.examples import Examples, ScoredExamples
from explorer.training.probe import LayerProbe, first_to_know, probe, probe_tags
from explorer.training.tagging import TAGGED, TaggedExamples, built_in_tagged
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.subject import Subject
from explorer.ui.view import Content, chart, sentence

SEEDS, TAG_SEEDS, CURVE_SEEDS = 5, 2, 3
FEW = 30  # different sentences held out in all splits, below which an interval is wider than most differences of layers
SPREAD = "Bars and bands: one standard deviation over the splits."
CLAIM = "Lower layers syntax, upper layers meaning (Tenney et al. 2019)?"
_Probes = list[tuple[str, TaggedExamples, list[LayerProbe]]]


@runtime_checkable
class WithExamples(Protocol):
    def examples(self) -> tuple[Hashable, str]:
        """The examples, and a note about them. Raises InputError."""


class OverExamples(LongView):
    """Long work on all examples, which are chosen by the settings of a second base class."""

    names: ClassVar[Sequence[str]] = ()  # the boxes for the examples are in another view
    method: ClassVar[str]  # what will be done, in a sentence

    def passes(self, subject: Subject) -> float:
        """Infinite, so that it always waits for its button: it reads all examples, and needs no text."""
        return float("inf")

    def key(self, subject: Subject) -> Hashable:
        """The key of the cached result: the model and what `asked` returns."""
        try:
            return self.name, subject.model_name, self.asked(subject)
        except InputError:
            return self.name, subject.model_name, None

    def asked(self, subject: Subject) -> Hashable:
        """What the result depends on besides the model: the examples. Raises InputError."""
        if not isinstance(self, WithExamples):
            raise TypeError(f"{type(self).__name__} has no examples")
        return self.examples()[0]

    def waiting(self, subject: Subject) -> Content:
        return {"about": self.method, "curve": None}


def _with_share(step: tuple[float, str]) -> tuple[str, float]:
    return f"{step[1]} {step[0]:.0%}.", step[0]


class Probe(OverExamples, ExampleSettings):
    """Held-out accuracy of a linear head on every hidden state, beside a control task."""

    name, question = "fine-tune/probe", "Which layer knows it?"
    folded, start = "Which layer knows it?", "Ask every layer"
    method = f"A linear head on every hidden state, {SEEDS} splits each, and the same with the labels shuffled."
    about = sentence(keep_height=True)
    curve = chart("Accuracy of a probe by layer", height=300)

    def work(self, subject: Subject) -> Generator[Any, None, tuple[list[LayerProbe], Examples]]:
        """Probe layer after layer."""
        examples, _ = self.examples()
        if isinstance(examples, ScoredExamples):
            raise InputError("The probe tells labels apart, and these examples have numbers; choose examples with labels.")
        steps = probe(subject.model, examples, "mean", SEEDS)
        return (yield from map_steps(steps, _with_share)), examples

    def draw(self, subject: Subject, found: tuple[list[LayerProbe], Examples]) -> Content:
        rows, examples = found
        layers, accuracies = [row.layer for row in rows], [row.accuracy for row in rows]
        deviations, controls = [row.deviation for row in rows], [row.control_accuracy for row in rows]
        chance = max(examples.counts.values()) / len(examples)
        return {
            "curve": probe_curve(layers, accuracies, deviations, controls, chance),
            "about": f"{tell(rows)} Dotted: always the most frequent label. {SPREAD}",
        }


def tell(rows: list[LayerProbe]) -> str:
    best = max(rows, key=lambda row: row.accuracy)
    interval = f"{whole_percent(best.low)} to {whole_percent(best.high)}"
    text = (
        f"Best at hidden state {best.layer}: {best.accuracy:.1%} (95% interval {interval} over {best.sentences:,} different "
        f"held-out texts, {SEEDS} splits), mean over tokens; {best.control_accuracy:.1%} with "
        "shuffled labels, which is what chance reaches."
    )
    if best.sentences < FEW:
        text += f" So few held-out texts ({best.sentences}) cannot tell the layers apart: add examples."
    elif rivals := sum(row.high >= best.low for row in rows) - 1:
        text += f" Its interval overlaps with those of {rivals} of the {len(rows) - 1} other hidden states."
    return text


class WordProbe(OverExamples, WordExampleSettings):
    """Held-out accuracy of a linear head on every hidden state, beside a control task by word type."""

    name, question = "fine-tune/words-probe", "Which layer knows the tags?"
    folded, start = question, "Ask every layer"
    method = (
        f"A linear head on every hidden state, {TAG_SEEDS} splits each; of what is built in, for parts of speech and for names. "
        "Beside it a control: each word gets a tag at random (Hewitt & Liang 2019)."
    )
    about = sentence(keep_height=True)
    curve = chart("Words tagged right by a probe, by layer", height=300)

    def asked(self, subject: Subject) -> Hashable:
        """All built-in sets, or the examples. Raises InputError."""
        return READY if self.words_from == READY else super().asked(subject)

    def work(self, subject: Subject) -> Generator[Any, None, _Probes]:
        """Probe layer after layer; for the built-in examples on both sets."""
        if self.words_from == READY:
            asked = [(title.split(":")[0], built_in_tagged(name)) for name, title in TAGGED.items()]
        else:
            examples, _ = self.examples()
            asked = [(self.title(examples), examples)]
        found = []
        for done, (title, examples) in enumerate(asked):
            steps = probe_tags(subject.model, examples, "first", TAG_SEEDS)
            rows = yield from map_steps(steps, partial(_step, title, done, len(asked)))
            found.append((title, examples, rows))
        return found

    def draw(self, subject: Subject, found: _Probes) -> Content:
        curves = [
            (title, [row.accuracy for row in rows], [row.deviation for row in rows], [row.control_accuracy for row in rows])
            for title, _, rows in found
        ]
        told = " ".join(_tell_tags(*tags) for tags in found)
        return {"curve": tag_probe_curves(curves), "about": f"{told} {_answer(found)} {SPREAD}".replace("  ", " ")}


def _step(title: str, done: int, of: int, step: tuple[float, str]) -> tuple[str, float]:
    share = (done + step[0]) / of
    return f"{title}: {step[1]} {share:.0%}.", share


def _tell_tags(title: str, examples: TaggedExamples, rows: list[LayerProbe]) -> str:
    best, chance = max(rows, key=lambda row: row.accuracy), max(examples.counts.values()) / len(examples.words)
    return (
        f"{title}: best at hidden state {best.layer}, {best.accuracy:.1%} (95% interval {best.low:.1%} to {best.high:.1%} "
        f"over sentences; always the most frequent tag: {chance:.1%}; selectivity {best.accuracy - best.control_accuracy:.1%}), "
        f"95% of the gain from hidden state "
        f"{first_to_know(rows, chance)} on."
    )


def _answer(found: _Probes) -> str:
    """What both sets together say about the claim."""
    if len(found) < 2:
        return ""
    first, second = (first_to_know(rows, max(one.counts.values()) / len(one.words)) for _, one, rows in found)
    if first == second:
        return f"{CLAIM} Not here: the grammar of words and who or what they name can both be read from hidden state {first} on."
    order = "Here too" if first < second else "Here it is the other way round"
    return f"{CLAIM} {order}: the grammar of words can be read from hidden state {first} on, names from hidden state {second} on."


class LearningCurve(OverExamples, ExampleSettings):
    """Held-out accuracy by the number of examples, beside a bag of words."""

    name, question = "fine-tune/curve", "How many examples does it need?"
    folded, start, width = question, "Train on more and more of them", 5
    method = (
        "A linear head on the mean of the last hidden state, and a bag of words, on parts of the examples; "
        f"{CURVE_SEEDS} splits each."
    )
    about = sentence(keep_height=True)
    curve = chart("Accuracy by the number of examples", height=280)

    def work(self, subject: Subject) -> Generator[Any, None, list[Point]]:
        examples, _ = self.examples()
        task = self.task(subject.model, examples, make_plan(subject.model, -1, "mean"))
        return (yield from map_steps(learning_curve(task, CURVE_SEEDS), _with_share))

    def draw(self, subject: Subject, found: list[Point]) -> Content:
        fields = ("examples", "score", "deviation", "words", "words_deviation")
        curve = examples_curve(*([getattr(point, name) for point in found] for name in fields))
        return {"curve": curve, "about": f"{_curve(found)} {SPREAD}"}


def _curve(points: list[Point]) -> str:
    first, last = points[0], points[-1]
    if first is last:
        return f"With all {last.examples} examples {whole_percent(last.score)}; a bag of words {whole_percent(last.words)}."
    text = f"With {first.examples} examples {whole_percent(first.score)}, with all {last.examples:,} {whole_percent(last.score)}"
    matched = next((point.examples for point in points if point.score >= last.words), None)
    if matched is not None and matched < last.examples:
        return f"{text}. {matched} examples are as good as all {last.examples:,} are to a bag of words."
    return f"{text}; a bag of words {whole_percent(first.words)} and {whole_percent(last.words)}."
