"""Probing the layers for tags: a linear head on every hidden state, for parts of speech and for names."""

from collections.abc import Generator, Hashable
from functools import partial
from typing import Any

from explorer.core.steps import map_steps
from explorer.finetune.example_settings import READY
from explorer.finetune.over_examples import OverExamples
from explorer.finetune.pictures.training import tag_probe_curves
from explorer.finetune.words_examples import WordExampleSettings
from explorer.training.probe import LayerProbe
from explorer.training.tag_probe import first_to_know, probe_tags
from explorer.training.tagging import TAGGED, TaggedExamples, built_in_tagged
from explorer.ui.subject import Subject
from explorer.ui.view import Content, chart, sentence

Probes = list[tuple[str, TaggedExamples, list[LayerProbe]]]

SEEDS = 2
METHOD = (
    f"A linear head on every hidden state, {SEEDS} splits each; of what is built in, for parts of speech and for names. Beside "
    "it a control: each word gets a tag by lot (Hewitt & Liang 2019)."
)
CLAIM = "Lower layers syntax, upper layers meaning (Tenney et al. 2019)?"


class WordProbe(OverExamples, WordExampleSettings):
    """Held-out accuracy of a linear head on every hidden state, beside a control task by word type."""

    name, question = "fine-tune/words-probe", "Which layer knows the tags?"
    folded = question
    start = "Ask every layer"
    about = sentence(keep_height=True)
    curve = chart("Words tagged right by a probe, by layer", height=300)

    def asked(self, subject: Subject) -> Hashable:
        """All built-in sets, or the examples. Raises InputError."""
        return READY if self.words_from == READY else super().asked(subject)

    def work(self, subject: Subject) -> Generator[Any, None, Probes]:
        """Probe layer after layer; for the built-in examples on both sets."""
        if self.words_from == READY:
            asked = [(title.split(":")[0], built_in_tagged(name)) for name, title in TAGGED.items()]
        else:
            examples, _ = self.examples()
            asked = [(self.title(examples), examples)]
        found = []
        for done, (title, examples) in enumerate(asked):
            steps = probe_tags(subject.model, examples, "first", SEEDS)
            rows = yield from map_steps(steps, partial(_step, title, done, len(asked)))
            found.append((title, examples, rows))
        return found

    def waiting(self, subject: Subject) -> Content:
        """A sentence on what will be done."""
        return {"about": METHOD, "curve": None}

    def draw(self, subject: Subject, found: Probes) -> Content:
        """Accuracy by layer, and where each set of tags is known."""
        curves = [
            (title, [row.accuracy for row in rows], [row.deviation for row in rows], [row.control_accuracy for row in rows])
            for title, _, rows in found
        ]
        told = " ".join(_tell(*one) for one in found)
        return {"curve": tag_probe_curves(curves), "about": f"{told} {_answer(found)}".strip()}


def _step(title: str, done: int, of: int, step: tuple[float, str]) -> tuple[str, float]:
    share = (done + step[0]) / of
    return f"{title}: {step[1]} {share:.0%}.", share


def _tell(title: str, examples: TaggedExamples, rows: list[LayerProbe]) -> str:
    best, chance = max(rows, key=lambda row: row.accuracy), max(examples.counts.values()) / len(examples.words)
    return (
        f"{title}: best at hidden state {best.layer}, {best.accuracy:.1%} (95 % interval {best.low:.1%} to {best.high:.1%} "
        f"over sentences; always the most frequent tag: {chance:.1%}; selectivity {best.accuracy - best.control_accuracy:.1%}), "
        f"95 % of the gain from hidden state "
        f"{first_to_know(rows, chance)} on."
    )


def _answer(found: Probes) -> str:
    """What both sets together say about the claim."""
    if len(found) < 2:
        return ""
    first, second = (first_to_know(rows, max(one.counts.values()) / len(one.words)) for _, one, rows in found)
    if first == second:
        return f"{CLAIM} Not here: the grammar of words and who or what they name are both known from hidden state {first} on."
    order = "Here too" if first < second else "Here it is the other way round"
    return f"{CLAIM} {order}: the grammar of words is known from hidden state {first} on, names from hidden state {second} on."
