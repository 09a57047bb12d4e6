"""A concept that distinguishes an item's word from its foil, such as number: erased from hidden states, or moved along its
direction.

What is erased or added in the items of one half of the groups is fitted to the other half, so that every number is held out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.resampling import halves
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute.items import number_groups
from explorer.experiments.compute.question import Group, Part, Question, ReadItem, Unusable, own_states
from explorer.experiments.compute.reading import grouped
from explorer.experiments.compute.summary import Place, lowest
from explorer.experiments.compute.targets import WORD

WORDS = "words"
CONCEPTS = {
    "number": (
        "is was has does this that it he she him her its his itself himself herself",
        "are were have do these those they them their themselves",
    ),
    "gender": (
        "he him his himself man boy father son brother uncle husband king mr",
        "she her hers herself woman girl mother daughter sister aunt wife queen mrs",
    ),
    "tense": ("is are has have does do am says goes makes", "was were had did said went made"),
}
"""The words of both classes of each concept."""
FITTED, TOKENS = 200, 16  # items of a half that are fitted to, and tokens of each


@dataclass(frozen=True)
class Known:
    """Items of one half: their classes [n], and vectors of the token read [states, n, hidden] and of all tokens, by item."""

    labels: torch.Tensor
    read: torch.Tensor
    tokens: Sequence[torch.Tensor]  # [states, tokens, hidden] each


@dataclass(frozen=True)
class OfConcept(Question):
    """A question about the concept that distinguishes the words of the items from their foils: CONCEPTS, or the words as they
    are."""

    ways = (*CONCEPTS, WORDS)
    targets = (WORD,)
    _half: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)  # by number of an item
    _classes: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The place that the word needs most."""
        return lowest

    @property
    def has_nulls(self) -> bool:
        return True

    def class_of(self, word: str) -> str:
        """The name of a word's class, "" for none."""
        if self.way == WORDS:
            return word.lower()
        return next((f"{number}" for number, words in enumerate(CONCEPTS[self.way]) if word.lower() in words.split()), "")

    def usable(self, item: ReadItem) -> None:
        """The concept must distinguish word and foil."""
        word, foil = (self.class_of(one) for one in (item.item.word, item.item.foil))
        if not (word and foil) or word == foil:
            raise Unusable(f"its word and its foil are not two words that {self.way} tells apart.")

    def prepare(self, items: Sequence[ReadItem]) -> Generator[Part, None, None]:
        """What is fitted to each half of the groups. Raises InputError where a half lacks a class."""
        ordered = sorted(items, key=lambda item: item.number)
        groups = number_groups([item.item for item in ordered])
        parts = [np.flatnonzero(np.isin(groups, half)) for half in halves(int(groups.max()) + 1, self.seed)]
        self._classes[:] = sorted({self.class_of(word) for item in ordered for word in (item.item.word, item.item.foil)})
        for half, rows in enumerate(parts):
            self._half.update((ordered[row].number, half) for row in rows.tolist())
        every: list[tuple[Sequence[ReadItem], Known]] = []
        for half, rows in enumerate(parts):
            chosen = np.random.default_rng(self.seed).permutation(rows)[:FITTED]
            read = [ordered[row] for row in sorted(chosen.tolist())]
            known = yield from self._read(read)
            every.append((read, known))
            there = {self._classes[label] for label in known.labels.unique().tolist()}
            asked = {self.class_of(word) for one in ordered if self._half[one.number] != half for word in self._needs(one)}
            if missing := sorted(asked - there) or (["a second one"] if len(there) < 2 else []):
                raise InputError(
                    f"Each half of the groups needs items of every class, and one has none of {missing[0]}; add items, or choose "
                    "another concept."
                )
            self._fit(half, known)
            yield 0.0, np.empty((0, self.width), np.float32)
        self._compare(every)

    def _needs(self, item: ReadItem) -> tuple[str, ...]:
        """The words of an item whose classes must be known."""
        return ()

    @abstractmethod
    def _fit(self, half: int, known: Known) -> None:
        """Fit to the items of one half what is erased or added in those of the other."""

    def _compare(self, halves: Sequence[tuple[Sequence[ReadItem], Known]]) -> None:
        """Compare what was fitted to each half with what is fitted to shuffled classes, where the test needs it."""

    def _read(self, items: Sequence[ReadItem]) -> Generator[Part, None, Known]:
        read, tokens = [], []
        for batch in grouped([len(item.ids) for item in items], 0, 1):
            group = Group.of(items[batch])
            states = torch.stack(own_states(self.model, group))  # [states, n, tokens, hidden]
            read.append(states[:, group.rows, group.places])
            places = torch.linspace(0, states.shape[2] - 1, min(TOKENS, states.shape[2])).long()
            tokens += [*states[:, :, places].unbind(1)]
            yield 0.0, np.empty((0, self.width), np.float32)
        labels = [self._classes.index(self.class_of(item.item.word)) for item in items]
        return Known(torch.tensor(labels), torch.cat(read, 1), tokens)
