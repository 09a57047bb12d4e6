"""A concept that distinguishes an item's word from its foil, such as number, erased from hidden states in many items.

What is erased or added in the items of one half of the groups is fitted to the other half, so that every number is held out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from explorer.analysis.resampling import halve_groups
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute.items import number_groups
from explorer.experiments.compute.question import STATES, Axis, Batch, Measured, Question, ReadItem, Unusable, round_off
from explorer.experiments.compute.reading import batch_items
from explorer.experiments.compute.targets import WORD
from explorer.techniques.leace import Eraser, fit_erasers
from explorer.training.head import Head
from explorer.training.probe import fit_head
from explorer.training.settings import TrainingSettings

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
ROLES = Axis("tokens", ("token read", "every token"))
RANDOM = 16  # subspaces of the null
OTHERS = 4  # tokens of an item whose guesses are compared
CONCEPT = (
    "*Number*, *gender* and *tense* are lists of words such as *is/are*, *he/she*, *is/was*; items with other words are left "
    "out. *The words themselves* takes each item's word as its class. A concept fitted to one half of the groups is measured "
    "in the other."
)


@dataclass(frozen=True)
class Known:
    """Items of one half: their classes [n], and vectors of the token read [states, n, hidden] and of all tokens, by item."""

    items: Sequence[ReadItem]
    labels: torch.Tensor
    read: torch.Tensor
    tokens: Sequence[torch.Tensor]  # [states, tokens, hidden] each


class OfConcept(Question):
    unit, adds_before, has_nulls, targets = "change of the logit difference", True, True, (WORD,)
    ways: ClassVar[Mapping[str, str]] = {**{name: name for name in CONCEPTS}, WORDS: "the words themselves"}
    needs: tuple[str, ...] = ()  # the words of an item whose classes must be known

    def set_up(self) -> None:
        self._half: dict[int, int] = {}  # by the number of an item
        self._classes: list[str] = []

    def class_of(self, word: str) -> str:
        """The name of a word's class, "" for none."""
        if self.way == WORDS:
            return word.lower()
        return next((f"{number}" for number, words in enumerate(CONCEPTS[self.way]) if word.lower() in words.split()), "")

    def label_of(self, item: ReadItem) -> int:
        return self._classes.index(self.class_of(item.item.word))

    def usable(self, item: ReadItem) -> None:
        word, foil = (self.class_of(one) for one in (item.item.word, item.item.foil))
        if not (word and foil) or word == foil:
            raise Unusable(f"its word and its foil are not two words that {self.way} tells apart.")

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """What is fitted to each half of the groups. Raises InputError where a half lacks a class."""
        ordered = sorted(items, key=lambda item: item.number)
        groups = number_groups([item.item for item in ordered])
        parts = halve_groups(groups, self.seed)
        self._classes = sorted({self.class_of(word) for item in ordered for word in (item.item.word, item.item.foil)})
        self._half = {ordered[row].number: half for half, rows in enumerate(parts) for row in rows.tolist()}
        every: list[Known] = []
        for half, rows in enumerate(parts):
            chosen = np.random.default_rng(self.seed).permutation(rows)[:FITTED]
            known = yield from self._read([ordered[row] for row in sorted(chosen.tolist())])
            every.append(known)
            there = {self._classes[label] for label in known.labels.unique().tolist()}
            others = [item.item for item in ordered if self._half[item.number] != half]
            asked = {self.class_of(getattr(item, name)) for item in others for name in self.needs}
            if missing := sorted(asked - there) or (["a second one"] if len(there) < 2 else []):
                raise InputError(
                    f"Each half of the groups needs items of every class, and one has none of {missing[0]}. Add items, or choose "
                    "another concept."
                )
            self._fit(half, known)
            yield
        self._compare(every)

    @abstractmethod
    def _fit(self, half: int, known: Known) -> None:
        """Fit to the items of one half what is erased or added in those of the other."""

    def _compare(self, every: Sequence[Known]) -> None:
        """Compare what was fitted to each half with what is fitted to shuffled classes, where the test needs it."""

    def _read(self, items: Sequence[ReadItem]) -> Generator[None, None, Known]:
        read, tokens = [], []
        for batch in batch_items(self, items, 1):
            states = torch.stack(batch.states)  # [states, n, tokens, hidden]
            read.append(batch.read(states))
            places = torch.linspace(0, states.shape[2] - 1, min(TOKENS, states.shape[2])).long()
            tokens += [*states[:, :, places].unbind(1)]
            yield
        return Known(items, torch.tensor([self.label_of(item) for item in items]), torch.cat(read, 1), tokens)


@dataclass(frozen=True)
class Erased:
    """What was fitted to one half at one state and role: two erasers, and probes of vectors before and after erasure."""

    own: Eraser
    random: Eraser
    before: Head
    after: Head


class Erases(OfConcept):
    """The logit difference with a concept erased from a hidden state less that without, [hidden states, ROLES].

    The null is one of RANDOM subspaces. A probe reads the token's vector, or the mean of all; "probe before" and "probe after"
    are 1 where it is right, "KL" is in nats.
    """

    name, menu = "erase", "What is lost without a concept? (erasure)"
    beside, each = "a random subspace", ("as it is", "without it in {}")
    setting = "erased", "Erase"
    help = (
        "The picture shows in how many items a probe (logistic regression) finds the class of the word, before and after. "
        "LEACE (Belrose et al. 2023) erases a concept from a hidden state of the token read or of every token: it is the "
        "smallest change after which no linear classifier finds the class. The null erases a random subspace of the same "
        f"rank. KL is the mean divergence of the guesses at {OTHERS} other tokens, a measure of other losses. {CONCEPT}"
    )
    finding = (
        "Without {concept} in {place}, selected on {on}, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; without a random subspace by {random}."
    )
    below = "the word loses"
    also = ("probe before", "probe after", "KL")
    places, passes, copies = (STATES, ROLES), 1 + OTHERS, 2  # the concept and a random subspace erased; guesses at other tokens

    def set_up(self) -> None:
        super().set_up()
        self._fits: dict[tuple[int, int, int], Erased] = {}  # by half, state and role

    def _fit(self, half: int, known: Known) -> None:
        counts = torch.tensor([part.shape[1] for part in known.tokens])
        for state in range(self.shape[0]):
            every = torch.cat([part[state] for part in known.tokens])
            means = torch.stack([part[state].mean(0) for part in known.tokens])
            given = (known.read[state], known.labels, known.read[state]), (every, known.labels.repeat_interleave(counts), means)
            for role, (vectors, labels, probed) in enumerate(given):
                own, random = fit_erasers(vectors, labels, RANDOM, self.seed)
                probes = (
                    fit_head(one.numpy(), known.labels.numpy(), len(self._classes), TrainingSettings())
                    for one in (probed, own(probed))
                )
                self._fits[half, state, role] = Erased(own, random, *probes)

    def measure(self, batch: Batch) -> Measured:
        others = torch.tensor([self._others(item) for item in batch.items])
        logs = self._guesses(batch.states[-1], others)  # [n, OTHERS, vocabulary]
        found = torch.empty(2 + len(self.also), len(batch.items), *self.shape)
        for state, hidden in enumerate(batch.states):
            for role in range(self.shape[1]):
                copies = torch.stack([hidden, hidden])  # the concept erased, and a random subspace
                for row, item in enumerate(batch.items):
                    fit = self._fits[1 - self._half[item.number], state, role]
                    which, at = int(self.random(item).integers(RANDOM)), [item.place] if role == 0 else slice(None)
                    copies[0, row, at] = fit.own(hidden[row, at])
                    copies[1, row, at] = Eraser(fit.random.mean, fit.random.left[which], fit.random.right[which])(hidden[row, at])
                    probed = hidden[row, item.place] if role == 0 else hidden[row].mean(0)
                    found[2:4, row, state, role] = torch.tensor(self._probed(item, fit, probed[None]))
                last = copies.flatten(0, 1)
                for layer in self.model.layers[state:]:
                    last = layer(last)
                last = last.unflatten(0, copies.shape[:2])
                found[:2, :, state, role] = batch.differences(batch.read(last)) - batch.before
                found[4, :, state, role] = (logs.exp() * (logs - self._guesses(last[0], others))).sum(-1).mean(-1)
        values, nulls, *also = found
        return Measured(values, round_off(values, nulls), also=also)

    def _probed(self, item: ReadItem, fit: Erased, vector: torch.Tensor) -> list[float]:
        """Whether the probe before and after erasure finds the class, 1 or 0, from a vector [1, hidden]."""
        given = (fit.before, vector), (fit.after, fit.own(vector))
        return [float(probe.outputs(one.numpy()).argmax() == self.label_of(item)) for probe, one in given]

    def _others(self, item: ReadItem) -> list[int]:
        """Tokens of an item besides that which is read and the first and last, at random; a token may be drawn again."""
        there = [at for at in range(1, len(item.ids) - 1) if at != item.place] or [0]
        return self.random(item).choice(there, OTHERS).tolist()

    def _guesses(self, hidden: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """The log-probabilities at some tokens, [n, OTHERS, vocabulary], from last hidden states [n, tokens, hidden]."""
        vectors = hidden[torch.arange(len(at))[:, None], at].flatten(0, 1)
        return self.model.masked_lm(vectors).log_softmax(-1).unflatten(0, at.shape)
