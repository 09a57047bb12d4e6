"""Which heads decide: every head switched off in many items. Large runs are kept in a file, and go on where they were stopped."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from explorer.analysis.resampling import halves
from explorer.bert.explorer import Explorer
from explorer.bert.provenance import provenance_of
from explorer.bert.readings import Reading, key_of, when_free
from explorer.core.steps import finished
from explorer.experiments.compute.heads_off import WAYS, ZERO, HeadChanges, Question, in_order, measured, questions_of, width
from explorer.experiments.compute.items import Item, check_items
from explorer.experiments.compute.summary import Summary, summarise
from explorer.text import limits

HEADS_OFF = "heads_off"
QUESTIONS = (HEADS_OFF,)
MOST_SEED = 2**31 - 1
KEPT_FROM = 500  # items: what takes longer than about half a minute is worth a file
ROW = np.dtype("<f4")


@dataclass(frozen=True, eq=False)
class Experiment:
    """What every head does in some items.

    `pieces` are word and foil of each item as the model has them, `before` [items] their logit difference with all heads, and
    `changes` [items, layers, heads] what it is without a head less that, in logits: negative where the head helps the word.
    `provenance` tells how it was made.
    """

    items: tuple[Item, ...]
    pieces: tuple[tuple[str, str], ...]
    before: np.ndarray
    changes: np.ndarray
    provenance: dict[str, Any]

    @cached_property
    def summary(self) -> Summary:
        """Means, intervals, tests and the held-out half."""
        return summarise(self.changes, self.provenance["seed"])

    @property
    def held_out_before(self) -> float:
        """The mean logit difference of the items that test the selected head, with all heads."""
        _, testing = halves(len(self.items), self.provenance["seed"])
        return float(self.before[testing].mean())

    def as_dict(self) -> dict[str, Any]:
        """As `/experiment` answers, layers and heads from 1."""
        found = self.summary
        arrays = {name: getattr(found, name).tolist() for name in ("effects", "low", "high", "p", "q")}
        return {
            **arrays,
            "random": found.random,
            "selected": [found.selected[0] + 1, found.selected[1] + 1],
            "held_out": {**vars(found.held_out), "baseline": self.held_out_before},
            "baseline": float(self.before.mean()),
            "items": len(self.items),
            "provenance": self.provenance,
        }


def experiment_in_steps(
    model: Explorer, items: object, question: str = HEADS_OFF, how: str = ZERO, seed: int = 0
) -> Generator[float, None, Experiment]:
    """Switch every head off in every item; yields the share done, 0 to 1. `how` is of WAYS: see `measured`.

    `items` are rows [text_a, text_b, word, foil] or Items. Raises InputError, and CapabilityError without a masked-LM head.
    """
    limits.check_choice(question, "the question", QUESTIONS)
    limits.check_choice(how, "how", WAYS)
    seed = limits.check_integer(seed, "the seed", 0, MOST_SEED)
    checked = check_items(items)
    questions = questions_of(model, checked)
    found = yield from (_kept if len(checked) >= KEPT_FROM else _at_once)(model, checked, questions, how, seed)
    names = model.pieces(found.words.ravel().tolist())
    provenance = {"question": question, "how": how, "seed": seed, "items": len(checked), **provenance_of(model)}
    pieces = tuple(zip(names[::2], names[1::2], strict=True))
    return Experiment(checked, pieces, found.before, found.changes, provenance)


def experiment(model: Explorer, items: object, question: str = HEADS_OFF, how: str = ZERO, seed: int = 0) -> Experiment:
    """The same at once."""
    return finished(experiment_in_steps(model, items, question, how, seed))


def _changes(model: Explorer, rows: np.ndarray, order: Sequence[int]) -> HeadChanges:
    """From rows in the order in which they were measured."""
    sorted_rows = np.empty_like(rows)
    sorted_rows[list(order)] = rows
    return HeadChanges.of(sorted_rows, model.capabilities.layers, model.capabilities.heads)


def _at_once(
    model: Explorer, items: Sequence[Item], questions: Sequence[Question], how: str, seed: int
) -> Generator[float, None, HeadChanges]:
    parts = []
    for share, rows in measured(model, questions, how, seed):
        parts.append(rows)
        yield share
    return _changes(model, np.concatenate(parts), in_order(questions))


def _kept(
    model: Explorer, items: Sequence[Item], questions: Sequence[Question], how: str, seed: int
) -> Generator[float, None, HeadChanges]:
    """With a file that a later run of the same goes on with."""
    key = key_of(model, [repr(one.row) for one in items], HEADS_OFF, how, seed)

    def fill(folder: Path) -> Generator[float, None, np.ndarray]:
        reading = Reading(folder, width(model), ROW)
        shares: list[float] = []

        def rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for share, part in measured(model, questions, how, seed, len(reading.lengths())):
                shares.append(share)
                yield part, np.ones(len(part))

        for _ in reading.append(rows()):
            yield shares[-1]
        return np.array(reading.rows())

    rows = yield from when_free(key, 4 * width(model) * len(items), fill)
    return _changes(model, rows, in_order(questions))
