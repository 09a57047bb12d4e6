"""One question asked of many items."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from explorer.analysis.resampling import halve_groups
from explorer.bert.explorer import Explorer, load
from explorer.bert.features import encode
from explorer.bert.provenance import provenance_of
from explorer.core.engine import inference_mode
from explorer.core.errors import InputError
from explorer.core.lazy import pandas
from explorer.core.steps import finished, in_one_call
from explorer.experiments.compute.concepts import Erases, Moves
from explorer.experiments.compute.edges import RECEIVERS, SENDERS
from explorer.experiments.compute.estimating import Estimated
from explorer.experiments.compute.heads import HEADS_OFF, Attends, CutLinks, HeadsOff
from explorer.experiments.compute.items import FEWEST, Item, Mark, check_items, number_groups
from explorer.experiments.compute.observing import FindsCue, LensWins, Likelihood
from explorer.experiments.compute.patching import Patching, Paths
from explorer.experiments.compute.question import HEADS, STATES, Axis, Question, ReadItem, Unusable
from explorer.experiments.compute.summary import LEAST_P, Summary, summarise
from explorer.experiments.compute.targets import WORD
from explorer.text import limits
from explorer.text.encoding import Encoding

QUESTIONS: dict[str, type[Question]] = {
    kind.name: kind
    for kind in (
        *(HeadsOff, Estimated, Patching, Paths, Erases, Moves),  # interventions
        *(LensWins, Attends, CutLinks, FindsCue, Likelihood),
    )
}
MOST_SEED = 2**31 - 1
NO_DIFFERENCE = "the model prefers the word to the foil no more than in the changed text, so nothing can be recovered."


@dataclass(frozen=True, eq=False)
class Experiment:
    """What a question found in some items: arrays that begin with [items].

    `pieces` are word and foil of each item as the model has them, and `before` [items] their logit difference in the unchanged
    run (for patching, in that of the changed text). `values` [items, *places] are what was measured at each place: for
    "heads_off" the difference without a head less that with it, negative where the head helps the word; the other questions
    say it in their docstrings. `nulls` [items, *places] are what each value is compared with, None for 0; `sizes` [items] what
    the values are parts of, None for 1. `also` [items, *places] is what else was measured, by name, NaN where it was not.
    `left_out` are the reasons why items, by their number from 1, could not be asked. `others` are runs of other checkpoints.
    `provenance` has versions, model and settings.
    """

    items: tuple[Item, ...]
    pieces: tuple[tuple[str, str], ...]
    before: np.ndarray
    values: np.ndarray
    provenance: dict[str, Any]
    nulls: np.ndarray | None = None
    sizes: np.ndarray | None = None
    left_out: dict[int, str] = field(default_factory=dict)
    also: dict[str, np.ndarray] = field(default_factory=dict)
    others: tuple[Experiment, ...] = ()

    @property
    def question(self) -> type[Question]:
        return QUESTIONS[self.provenance["question"]]

    @property
    def axes(self) -> tuple[Axis, ...]:
        axes = self.question.axes(self.provenance["how"])
        counts, heads = self.values.shape[1:], self.provenance.get("heads", 0)
        return tuple(axis.counted(count, heads) for axis, count in zip(axes, counts, strict=True))

    def name_of(self, at: Sequence[int]) -> str:
        """A place in words: 'layer 5, head 11', 'hidden state 4, changed words', 'the edge from head 5.11 to MLP 6'."""
        named = [(axis.name, axis.labels[place]) for axis, place in zip(self.axes, at, strict=True)]
        if named[-1][0] == RECEIVERS.name:
            labels = (str(label) for _, label in named)
            names = (name if name[:3] == "MLP" else f"{'head' if '.' in name else 'the'} {name}" for name in labels)
            return "the edge from {} to {}".format(*names)
        return ", ".join(f"{name} {label}" if isinstance(label, int) else label for name, label in named)

    def short(self, at: Sequence[int]) -> str:
        """A place in few letters: '5.11', 'state 4'."""
        labels = [str(axis.labels[place]) for axis, place in zip(self.axes, at, strict=True)]
        if joint := {HEADS.name: ".", RECEIVERS.name: " → "}.get(self.axes[-1].name):
            return joint.join(labels)
        return f"{'state ' if self.axes[0].name == STATES.name else ''}{', '.join(labels)}"

    @cached_property
    def summary(self) -> Summary:
        """Means, intervals, tests and the held-out half."""
        asked, how = self.question, self.provenance["how"]
        least = np.nan_to_num(self.also[LEAST_P][0], nan=1).clip(0, 1) if LEAST_P in self.also else 0  # a file may have any
        return summarise(
            self.values,
            self.provenance["seed"],
            lambda means: asked.pick(how, means),
            falls=bool(asked.below),
            nulls=self.nulls,
            sizes=self.sizes,
            is_hit=asked.is_hit and self.nulls is not None,
            groups=number_groups(self.items),
            least=least,
        )

    @cached_property
    def also_means(self) -> dict[str, np.ndarray]:
        """The means of what else was measured, [*places], by name; NaN where it was not measured in all items."""
        sizes = len(self.items) if self.sizes is None else self.sizes.sum()
        return {name: array.sum(0, dtype=np.float64) / sizes for name, array in self.also.items()}

    @cached_property
    def held_out_rows(self) -> np.ndarray:
        """The items, from 0, that test the selected place."""
        return halve_groups(number_groups(self.items), self.provenance["seed"])[1]

    @property
    def held_out_before(self) -> float:
        """The mean of `before` over the items that test the selected place."""
        return float(self.before[self.held_out_rows].mean())

    @property
    def table(self) -> pandas.DataFrame:
        """A row for each place: its labels, mean, interval, p and q, null, and what else was measured."""
        summary, indices = self.summary, np.indices(self.summary.effects.shape)
        labels = {axis.name: np.array(axis.labels)[at].ravel() for axis, at in zip(self.axes, indices, strict=True)}
        columns = {name: getattr(summary, name) for name in ("effects", "low", "high", "p", "q", "nulls")} | self.also_means
        return pandas.DataFrame(labels | {name: array.ravel() for name, array in columns.items() if array is not None})

    def as_dict(self) -> dict[str, Any]:
        """As `/experiment` answers; layers and heads count from 1, hidden states from 0. An end of no interval is None."""
        found, held, axes = self.summary, self.summary.held_out, self.axes
        return {
            **{name: without_nan(getattr(found, name)) for name in ("effects", "low", "high", "p", "q")},
            **({} if found.nulls is None else {"nulls": found.nulls.tolist()}),
            **{name.replace(" ", "_"): without_nan(means) for name, means in self.also_means.items()},
            "places": {axis.name: list(axis.labels) for axis in axes},
            "random": found.random,
            "selected": [axis.labels[at] for axis, at in zip(axes, found.selected, strict=True)],
            "held_out": {name: without_nan(value) for name, value in vars(held).items()} | {"baseline": self.held_out_before},
            "baseline": float(self.before.mean()),
            "items": len(self.items),
            "groups": found.groups,
            "held_out_groups": held.groups,
            "left_out": {str(number): why for number, why in self.left_out.items()},
            "provenance": self.provenance,
        }


def without_nan(values: Any) -> Any:
    """Numbers as JSON has them: None in the place of NaN."""
    missing = np.isnan(values)
    found = np.asarray(values, dtype=object if missing.any() else None)
    if missing.any():
        found[missing] = None
    return found.tolist()


def question_of(model: Explorer, name: str, way: str = "", target: str = WORD, seed: int = 0) -> Question:
    """The question of this name; "" is its first way. Raises InputError for another name, way or target; CapabilityError."""
    return QUESTIONS[limits.check_choice(name, "the question", list(QUESTIONS))](model, way, target, seed)


def experiment_in_steps(
    model: Explorer,
    items: object,
    question: str = HEADS_OFF,
    how: str = "",
    seed: int = 0,
    target: str = WORD,
    groups: Sequence[str] = (),
) -> Generator[float, None, Experiment]:
    """Ask a question of every item; yields the share done, 0 to 1.

    `items` are rows [text_a, text_b, word, foil] or Items; `question` is of QUESTIONS, `how` one of its ways ("" the first one),
    and `target` "word", "next_sentence" or "label". `groups` names the group of each item; items of one group are not independent
    (default: those with the same texts). Raises InputError, and CapabilityError without the head that is asked.
    """
    asked = question_of(model, question, how, target, limits.check_integer(seed, "the seed", 0, MOST_SEED))
    checked = check_items(items, groups)
    read, left_out = read_items_as(asked, checked)
    return (yield from _measure(asked, read, left_out))


experiment = in_one_call(experiment_in_steps)


def repeat(run: Experiment, model: Explorer | None = None) -> Experiment:
    """The same experiment again, by the model of its provenance or another one. Raises ModelError without that model."""
    made = run.provenance
    asked = question_of(model or load(made["model"]), made["question"], made["how"], made.get("target", WORD), made["seed"])
    numbers = [number for number in range(1, len(run.items) + len(run.left_out) + 1) if number not in run.left_out]
    read, left_out = read_items_as(asked, run.items, numbers)
    return finished(_measure(asked, read, run.left_out | left_out))


def _measure(asked: Question, read: Sequence[ReadItem], left_out: dict[int, str]) -> Generator[float, None, Experiment]:
    """The experiment, without the items in which there is nothing to measure. Raises InputError if too few are left."""
    found = yield from measure_all(asked, read)
    left_out = left_out | {read[at].number: NO_DIFFERENCE for at in np.flatnonzero(found["sizes"] <= 0).tolist()}
    some = np.flatnonzero(found["sizes"] > 0)
    if len(some) < FEWEST:
        raise InputError(f"This needs at least two items that can be asked. Of item {min(left_out)}: {left_out[min(left_out)]}")
    own = {name: array[some] for name, array in found.items()}
    names = asked.target.names(own["words"].ravel().tolist())
    provenance = {
        "question": asked.name,
        "how": asked.way,
        **({} if asked.target.name == WORD else {"target": asked.target.name}),
        "seed": asked.seed,
        **({"heads": asked.model.capabilities.heads} if asked.axes(asked.way)[0] is SENDERS else {}),
        "items": len(some),
        **provenance_of(asked.model),
    }
    return Experiment(
        tuple(read[at].item for at in some.tolist()),
        tuple(zip(names[::2], names[1::2], strict=True)),
        own["before"],
        own["values"],
        provenance,
        own.get("nulls"),
        own["sizes"] if (own["sizes"] != 1).any() else None,
        dict(sorted(left_out.items())),
        {name: own[name] for name in asked.also},
    )


@inference_mode
def measure_all(question: Question, items: Sequence[ReadItem]) -> Generator[float, None, dict[str, np.ndarray]]:
    """Measure items, the shortest first; yields the share done, 0 to 1. Returns `Measured.arrays` in the order of the items."""
    order = sorted(range(len(items)), key=lambda number: len(items[number].ids))
    ordered = [items[number] for number in order]
    before, count = question.preparing, sum(1 for _ in question.batches(ordered))
    for step, _ in enumerate(question.prepare(ordered), 1):
        yield before * min(1, step / count)
    rows, done, tokens = [], 0, sum(len(item.ids) for item in items)
    for batch in question.batches(ordered):
        rows.append(question.measure(batch).arrays(batch))
        done += sum(len(item.ids) for item in batch.items)
        yield before + (1 - before) * done / tokens
    return {name: np.concatenate([row[name] for row in rows])[np.argsort(order)] for name in rows[0]}


def read_items_as(
    question: Question, items: Sequence[Item], numbers: Sequence[int] = ()
) -> tuple[list[ReadItem], dict[int, str]]:
    """The items that the question can be asked about, and why not about the others, by their number from 1; repeats count once.

    `numbers` are those of the items, which seed what is drawn for each; from 1 on if none are given.

    Raises InputError naming an item that is wrong in itself, and where fewer than two items are left.
    """
    encoded = encode(question.model, [(item.text_a, item.text_b) if item.text_b else item.text_a for item in items])
    found, left_out = [], {}
    first: dict[Item, int] = {}
    for number, item, (ids, segments) in zip(numbers or range(1, len(items) + 1), items, encoded, strict=True):
        if first.setdefault(item, number) != number:
            left_out[number] = f"it repeats item {first[item]}; a repeated item counts once."
            continue
        try:
            place, word, foil = question.read(item, ids)
            read = ReadItem(item, ids, segments, place, word, foil, number)
            read = _with_marks(question.model, read) if question.needs_marks else read
            question.usable(read)
        except Unusable as error:
            left_out[number] = str(error)
        except InputError as error:
            raise InputError(f"{str(error).rstrip('.')} (item {number}).") from error
        else:
            found.append(read)
    if len(found) < FEWEST:
        number, why = next(iter(left_out.items()))
        raise InputError(f"At least two items must fit the question. Item {number} does not: {why}")
    return found, left_out


def _with_marks(model: Explorer, read: ReadItem) -> ReadItem:
    """The item with the tokens of its marks, of its other words (no punctuation), and the ids of its changed text."""
    item, encoding = read.item, model.encode(read.item.text_a, read.item.text_b)
    texts = encoding.text_a, encoding.text_b
    marks = tuple(_tokens(encoding, mark) for mark in item.marks)
    taken = {token for mark in marks for token in mark} | set(model.mask_positions(encoding))

    def is_word(tokens: Sequence[int]) -> bool:  # a full stop is looked at unlike any word, and would make a poor comparison
        written = "".join(texts[encoding.sequences[at]][slice(*encoding.offsets[at])] for at in tokens)
        return any(map(str.isalnum, written))

    others = tuple(tuple(word) for word in encoding.text_words if taken.isdisjoint(word) and is_word(word))
    changed = model.encode(*item.changed).ids if item.changed else ()
    return replace(read, marks=tuple(filter(None, marks)), others=others, changed=changed)


def _tokens(encoding: Encoding, mark: Mark) -> tuple[int, ...]:
    """The tokens of a marked stretch of text; none where it was cut off."""
    spans = enumerate(zip(encoding.sequences, encoding.offsets, strict=True))
    return tuple(
        at
        for at, (sequence, (start, end)) in spans
        if sequence == mark.text and start < mark.end and end > mark.start and start < end
    )
