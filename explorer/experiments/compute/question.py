"""What a question of an experiment is: one record of what is changed and measured, where, and what the page says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import ClassVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.experiments.compute.items import Item
from explorer.experiments.compute.summary import Place
from explorer.experiments.compute.targets import TARGETS, Target
from explorer.techniques.ablation import last_vectors, vectors_without_heads
from explorer.techniques.targets import batches
from explorer.text import limits

ROUNDING = 1e-4  # logits: what two ways of computing the same differ by; their sign would say nothing


class Unusable(InputError):
    """Why one item cannot be asked this question; the others can."""


@dataclass(frozen=True)
class Axis:
    """One of the two directions in which places lie: its name, and the label of each place; () for numbers from `first`.

    Components of the model have names such as "5.11", layer 5, head 11; `ends` is the one that no layer has, and comes
    before the others where `first` is 0.
    """

    name: str
    labels: Sequence[int | str] = ()
    first: int = 1
    ends: str = ""

    def counted(self, count: int, heads: int = 0) -> Axis:
        """The axis with this many labels, unless it has them; with those of layers of so many heads, in the order of a run."""
        if self.labels:
            return self
        if not self.ends:
            return replace(self, labels=range(self.first, self.first + count))
        layers = range(1, 1 + (count - 1) // (heads + 1))
        inside = [name for at in layers for name in (*(f"{at}.{head}" for head in range(1, heads + 1)), f"MLP {at}")]
        return replace(self, labels=[*inside, self.ends] if self.first else [self.ends, *inside])


LAYERS, HEADS, STATES = Axis("layer"), Axis("head"), Axis("hidden state", first=0)


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


@dataclass(frozen=True, eq=False)
class Batch:
    """Items of one length, and what is known of their unchanged runs."""

    question: Question
    items: Sequence[ReadItem]

    @cached_property
    def rows(self) -> torch.Tensor:
        """[n] the number of each."""
        return torch.arange(len(self.items))

    @cached_property
    def places(self) -> torch.Tensor:
        """[n] the tokens that are read."""
        return torch.tensor([item.place for item in self.items])

    @cached_property
    def states(self) -> list[torch.Tensor]:
        """Every hidden state of the items' texts, [n, tokens, hidden] each."""
        return list(self.states_of("ids"))

    @cached_property
    def changed(self) -> list[torch.Tensor]:
        """Every hidden state of the items' changed texts, [n, tokens, hidden] each."""
        return list(self.states_of("changed"))

    def states_of(self, name: str) -> Iterator[torch.Tensor]:
        """Each hidden state of the items' "ids" or "changed" ones, [n, tokens, hidden]."""
        model = self.question.model
        return iter(model.run_padded(model.pad([(getattr(item, name), item.segments) for item in self.items])))

    @cached_property
    def words(self) -> torch.Tensor:
        """The classes of word and foil, [n, 2]."""
        given = torch.tensor([(item.word, item.foil) for item in self.items])
        return self.question.target.chosen(given, self.read(self.states[-1]))

    @cached_property
    def before(self) -> torch.Tensor:
        return self.differences(self.read(self.states[-1]))

    def read(self, hidden: torch.Tensor) -> torch.Tensor:
        """The vectors of the tokens that are read, [..., n, hidden], of hidden states [..., n, tokens, hidden]."""
        return hidden[..., self.rows, self.places, :]

    def differences(self, vectors: torch.Tensor) -> torch.Tensor:
        """The logit differences [..., n] of last hidden states [..., n, hidden]."""
        return self.question.target.differences(vectors, self.words)

    def contexts(self, states: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The context of every head, the weighted sum of values before W_O, by layer: [n, heads, tokens, head_size]."""
        return [layer.heads(hidden).context() for layer, hidden in zip(self.question.model.layers, states[:-1], strict=True)]

    def with_contexts(
        self, states: Sequence[torch.Tensor], instead: Sequence[torch.Tensor], chosen: np.ndarray | None = None
    ) -> torch.Tensor:
        """The last vectors that are read, [layers, heads, n, hidden], when one head's context alone is replaced, by layer."""
        return finished(vectors_without_heads(self.question.model, states, self.places, instead, chosen))

    def finish(self, layer: int, hidden: torch.Tensor) -> torch.Tensor:
        """The last vectors that are read, [copies, n, hidden], when `layer` reads `hidden` [copies, n, tokens, hidden]."""
        found = last_vectors(self.question.model, layer, hidden.flatten(0, 1), self.places.repeat(len(hidden)))
        return found.unflatten(0, hidden.shape[:2])


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured in n items: `values` [n, *places].

    `nulls` [n, *places] are what each value is compared with, None for 0. `sizes` [n] are what the values are parts of, so
    that the mean is Σ values / Σ sizes; None for 1. `also` [n, *places] each are what else was measured, in the order of the
    question's `also`; NaN where it was not. `before` [n] and `words` [n, 2] are those of the batch where they are None.
    """

    values: torch.Tensor
    nulls: torch.Tensor | None = None
    sizes: torch.Tensor | None = None
    also: Sequence[torch.Tensor] = ()
    before: torch.Tensor | None = None
    words: torch.Tensor | None = None

    def arrays(self, batch: Batch) -> dict[str, np.ndarray]:
        """[n, ...] each, by name: words, before, sizes, values, nulls if there are any, and what else was measured."""
        given = {
            "words": batch.words if self.words is None else self.words,
            "before": batch.before if self.before is None else self.before,
            "sizes": torch.ones(len(batch.items)) if self.sizes is None else self.sizes,
            **{"values": self.values, "nulls": self.nulls},
        }
        given |= dict(zip(batch.question.also, self.also, strict=True))
        return {name: array.numpy() for name, array in given.items() if array is not None}


class Question(ABC):
    """One question: a way to ask it, a target, and a seed for what is drawn at random.

    `finding` is the sentence of the place that one half of the groups selected, with names of `sentences.facts`. `each` are the
    titles in the list of items: `before` ("" for none), and the value at a place.
    """

    name: ClassVar[str]
    menu: ClassVar[str]
    help: ClassVar[str]  # how it is measured, with citations, in Markdown
    finding: ClassVar[str]
    unit: ClassVar[str]
    beside: ClassVar[str]  # what the selected place is judged by
    null: ClassVar[str] = ""  # the same, more exactly, where each value has its null
    each: ClassVar[tuple[str, str]]
    ways: ClassVar[Mapping[str, str]]  # and what they are called on the page
    how: ClassVar[str]  # the label of their menu
    below: ClassVar[str] = ""  # what a value below 0 says, "" where larger values are looked for
    adds_before: ClassVar[bool] = False  # whether the value in the list is `before` plus what was measured
    is_share: ClassVar[bool] = False  # whether no value is below 0
    is_hit: ClassVar[bool] = False  # whether a value is 0 or 1, and its null the chance of 1
    has_nulls: bool = False  # whether each value is compared with one of its own, and not with 0
    targets: ClassVar[tuple[str, ...]] = TARGETS
    needs_marks: ClassVar[bool] = False
    also: ClassVar[tuple[str, ...]] = ()  # what else is measured at places
    places: ClassVar[tuple[Axis, ...]] = LAYERS, HEADS  # rows and columns
    passes: ClassVar[float] = 0  # about how many forward passes a place takes
    preparing: ClassVar[float] = 0  # the share of the work before any item is measured, if that takes a step for each batch
    copies: ClassVar[int] = 0  # of an item that are read together for each column

    def __init__(self, model: Explorer, way: str = "", target: str = TARGETS[0], seed: int = 0) -> None:
        """Raises InputError for a way or target that it does not have, CapabilityError for what the model lacks."""
        self.model, self.way, self.seed = model, self.check_way(way), seed
        self.target = Target(model, limits.check_choice(target, f"the target of {self.name}", self.targets))
        has = model.capabilities
        counts = {LAYERS.name: has.layers, HEADS.name: has.heads, STATES.name: has.layers + 1}
        components = 1 + has.layers * (has.heads + 1)
        self.shape = tuple(len(axis.labels) or counts.get(axis.name, components) for axis in self.axes(self.way))
        self.set_up()

    def set_up(self) -> None:
        """What else is known before any item. Raises InputError for a way, CapabilityError for what the model lacks."""
        return

    @classmethod
    def check_way(cls, way: str) -> str:
        """The way itself; "" is the first one. Raises InputError for another."""
        return limits.check_choice(way or next(iter(cls.ways)), "how", list(cls.ways))

    @classmethod
    def axes(cls, way: str) -> tuple[Axis, ...]:
        """In which directions places lie, asked this way."""
        return cls.places

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The place that is looked for, chosen from means: the highest one, or the lowest where values fall."""
        return place_of(int(means.argmin() if cls.below else means.argmax()), means)

    @property
    def cost(self) -> tuple[int, float]:
        """How many copies of an item are read together, and about how many forward passes an item takes."""
        return max(1, self.copies * self.shape[-1]), 2 + self.passes * float(np.prod(self.shape))

    def read(self, item: Item, ids: tuple[int, ...]) -> tuple[int, int, int]:
        """The token that is read, and the classes of word and foil. Raises InputError for an item without them."""
        return self.target.place(ids), *self.target.classes(item)

    def usable(self, item: ReadItem) -> None:
        """Raise Unusable, with the reason, for an item that this question cannot be asked about."""
        return

    def random(self, item: ReadItem) -> np.random.Generator:
        """The source of what is drawn for an item, the same in every run and batch."""
        return np.random.default_rng((self.seed, item.number))

    def batches(self, items: Sequence[ReadItem], copies: int = 0) -> Iterator[Batch]:
        """Batches of equal lengths, cut so that these `copies` are read together, or those of the question's cost."""
        for length, group in groupby(items, lambda item: len(item.ids)):
            of_length = [*group]
            for part in batches(len(of_length), (copies or self.cost[0]) * length):
                yield Batch(self, of_length[part])

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """Find what all items are needed for before any is measured, step by step."""
        yield from ()

    @abstractmethod
    def measure(self, batch: Batch) -> Measured:
        """The numbers of some items of one length."""


class OfMarked(Question):
    """A question about a marked word of each item, compared with another word of the item."""

    needs_marks, has_nulls = True, True

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


def place_of(at: int, means: np.ndarray) -> Place:
    """The place with this number in an array of places."""
    return tuple(int(number) for number in np.unravel_index(at, means.shape))


def round_off(values: torch.Tensor, nulls: torch.Tensor) -> torch.Tensor:
    """The nulls, but equal to the values where both differ by rounding only."""
    return torch.where((values - nulls).abs() < ROUNDING, values, nulls)
