"""What a question of an experiment is: items × question × target → one number for every place in every item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.network import Network
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.summary import Place, highest
from explorer.experiments.compute.targets import TARGETS, Target, target_of
from explorer.text import limits

NOWHERE = -1  # the place of an item without a blank


class Unusable(InputError):
    """Why one item cannot be asked this question; the others can."""


@dataclass(frozen=True)
class ReadItem:
    """An item as the model reads it.

    `place` is the token that the target reads, `word` and `foil` its classes (UNKNOWN where the model chooses). `marks` are the
    tokens of each marked word, `others` those of every other word (no special token, blank or sign), and `changed` the ids of the
    text with the counterparts; they are there for questions that need them.
    """

    item: Item
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    place: int
    word: int
    foil: int
    number: int = 0
    marks: tuple[tuple[int, ...], ...] = ()
    others: tuple[tuple[int, ...], ...] = ()
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Group:
    """Items of one length, the tokens that are read in each [n], and the classes of word and foil [n, 2]."""

    items: Sequence[ReadItem]
    places: torch.Tensor
    words: torch.Tensor

    @classmethod
    def of(cls, items: Sequence[ReadItem]) -> Group:
        places, words = [item.place for item in items], [(item.word, item.foil) for item in items]
        return cls(items, torch.tensor(places), torch.tensor(words))

    @property
    def rows(self) -> torch.Tensor:
        """[n] the number of each."""
        return torch.arange(len(self.items))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured in n items: `words` [n, 2] classes of word and foil, `before` [n], and `values` [n, *places].

    `nulls` [n, *places] are what each value is compared with, None for 0. `sizes` [n] are what the values are parts of, so
    that the mean is Σ values / Σ sizes; None for 1. `also` [n, *places] each are what else was measured, in the order of the
    question's `also`; NaN where it was not.
    """

    words: torch.Tensor
    before: torch.Tensor
    values: torch.Tensor
    nulls: torch.Tensor | None = None
    sizes: torch.Tensor | None = None
    also: Sequence[torch.Tensor] = ()

    def rows(self) -> np.ndarray:
        """[n, width] float32: words, before, size, values, and nulls and others if there are any."""
        size = torch.ones(len(self.before)) if self.sizes is None else self.sizes
        columns = [self.words.float(), self.before[:, None], size[:, None], self.values.flatten(1)]
        columns += [array.flatten(1) for array in (self.nulls, *self.also) if array is not None]
        return torch.cat(columns, 1).numpy().astype(np.float32)


Part = tuple[float, np.ndarray]
"""The share done, 0 to 1, and rows of `Measured`."""


@dataclass(frozen=True)
class Axis:
    """One of the two directions in which places lie: its name, and the label of each."""

    name: str
    labels: Sequence[int | str]


LAYERS, HEADS, STATES = ("layer", 1), ("head", 1), ("hidden state", 0)


@dataclass(frozen=True)
class Question(ABC):
    """One question: a way to ask it, a target, and a seed for what is drawn at random.

    Raises InputError for a way or target that it does not have, CapabilityError for what the model lacks.
    """

    name: ClassVar[str]
    ways: ClassVar[tuple[str, ...]]
    targets: ClassVar[tuple[str, ...]] = TARGETS
    needs_marks: ClassVar[bool] = False
    is_hit: ClassVar[bool] = False  # whether a value is 0 or 1, and its null the chance of 1
    also: ClassVar[tuple[str, ...]] = ()  # what else is measured at places
    reads_words: ClassVar[bool] = True  # whether an item must have what the target reads; where not, its place may be NOWHERE
    model: Explorer = field(repr=False)
    way: str = ""
    target_name: str = TARGETS[0]
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "way", self.check_way(self.way))
        limits.check_choice(self.target_name, f"the target of {self.name}", self.targets)
        object.__setattr__(self, "target", target_of(self.model, self.target_name))

    target: Target = field(init=False, repr=False)

    @classmethod
    def check_way(cls, way: str) -> str:
        """The way itself; "" is the first one. Raises InputError for another."""
        return limits.check_choice(way or cls.ways[0], "how", cls.ways)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many places there are, (rows, columns) or (rows,): unless a question says otherwise, layers and heads."""
        return self.model.capabilities.layers, self.model.capabilities.heads

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """The names of places of this shape, which need no model: a saved experiment has them too."""
        return numbered(shape, LAYERS, HEADS)

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """How the place that is looked for is chosen from means."""
        return highest

    @property
    def has_nulls(self) -> bool:
        """Whether each value is compared with one of its own, and not with 0."""
        return False

    @property
    def width(self) -> int:
        """How many numbers a row of `Measured` has."""
        return 4 + int(np.prod(self.shape)) * (1 + self.has_nulls + len(self.also))

    @property
    def copies(self) -> int:
        """How many copies of an item are read together."""
        return 1

    @property
    def passes(self) -> float:
        """About how many forward passes an item takes."""
        return 1

    def usable(self, item: ReadItem) -> None:
        """Raise Unusable, with the reason, for an item that this question cannot be asked about."""
        return

    def random(self, item: ReadItem) -> np.random.Generator:
        """The source of what is drawn for an item, the same in every run and batch."""
        return np.random.default_rng((self.seed, item.number))

    def prepare(self, items: Sequence[ReadItem]) -> Generator[Part, None, None]:
        """What is found from all items before any is measured; yields empty parts."""
        yield from ()

    @abstractmethod
    def measure(self, group: Group) -> Measured:
        """The numbers of some items of one length."""

    def before(self, states: Sequence[torch.Tensor], group: Group) -> tuple[torch.Tensor, torch.Tensor]:
        """The classes of word and foil [n, 2], and their logit difference [n], in unchanged runs."""
        vectors = states[-1][group.rows, group.places]
        words = self.target.chosen(group.words, vectors)
        return words, self.target.differences(vectors, words)


@dataclass(frozen=True)
class OverStates(Question):
    """A question whose places are the hidden states, from 0."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.model.capabilities.layers + 1,)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        return numbered(shape, STATES)


@dataclass(frozen=True)
class OfMarked(Question):
    """A question about a marked word of each item, compared with another word of the item."""

    needs_marks = True

    @property
    def has_nulls(self) -> bool:
        return True

    def usable(self, item: ReadItem) -> None:
        """An item needs a marked word, and another word."""
        if not item.marks:
            raise Unusable("it has no marked word; put stars around one, as in *key*.")
        if not item.others:
            raise Unusable("it has no other word to compare the marked one with.")

    def another_word(self, item: ReadItem) -> tuple[int, ...]:
        """The tokens of another word, drawn at random.

        One word, and not the mean of all: where the marked word is any of the item's words, the two may be exchanged, so that the
        difference is as likely in either direction, as flipping its sign assumes. A word less the mean of the others is not: most
        weights are small and a few large, and a mean hides that.
        """
        return item.others[int(self.random(item).integers(len(item.others)))]


def numbered(shape: Sequence[int], *axes: tuple[str, int]) -> tuple[Axis, ...]:
    """Axes of numbers, each from its first."""
    return tuple(Axis(name, range(first, first + count)) for (name, first), count in zip(axes, shape, strict=True))


def states_of(model: Network, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Every hidden state of some inputs, [n, tokens, hidden] each, and where they have tokens: [n, tokens] bool."""
    padded = model.pad(rows)
    return list(model.run_padded(padded)), padded.real


def own_states(model: Network, group: Group) -> list[torch.Tensor]:
    """Every hidden state of the items' texts, [n, tokens, hidden] each."""
    return states_of(model, [(item.ids, item.segments) for item in group.items])[0]


def changed_states(model: Network, group: Group) -> list[torch.Tensor]:
    """Every hidden state of the items' changed texts, [n, tokens, hidden] each."""
    return states_of(model, [(item.changed, item.segments) for item in group.items])[0]
