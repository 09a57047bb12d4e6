"""One question asked of many items."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from explorer.analysis.resampling import halve_groups
from explorer.bert.explorer import Explorer, load
from explorer.bert.provenance import provenance_of
from explorer.core.errors import InputError
from explorer.core.lazy import pandas
from explorer.core.steps import finished, in_one_call
from explorer.experiments.compute.concepts import Erases, Moves
from explorer.experiments.compute.edges import RECEIVERS, SENDERS
from explorer.experiments.compute.estimating import Estimated
from explorer.experiments.compute.heads import HEADS_OFF, Attends, CutLinks, HeadsOff
from explorer.experiments.compute.items import FEWEST, Item, check_items, number_groups
from explorer.experiments.compute.observing import FindsCue, LensWins, Likelihood
from explorer.experiments.compute.patching import Patching, Paths
from explorer.experiments.compute.question import HEADS, STATES, Axis, Question, ReadItem
from explorer.experiments.compute.reading import measure_all, read_items_as
from explorer.experiments.compute.summary import LEAST_P, Summary, summarise
from explorer.experiments.compute.targets import WORD
from explorer.text import limits

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
    words, before, sizes, values, *others = yield from measure_all(asked, read)
    left_out = left_out | {read[at].number: NO_DIFFERENCE for at in np.flatnonzero(sizes <= 0).tolist()}
    some = np.flatnonzero(sizes > 0)
    if len(some) < FEWEST:
        raise InputError(f"This needs at least two items that can be asked. Of item {min(left_out)}: {left_out[min(left_out)]}")
    names = asked.target.names(words[some].ravel().tolist())
    others = [other[some] for other in others]
    nulls = others.pop(0) if asked.has_nulls else None
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
        before[some],
        values[some],
        provenance,
        nulls,
        sizes[some] if (sizes[some] != 1).any() else None,
        dict(sorted(left_out.items())),
        dict(zip(asked.also, others, strict=True)),
    )
