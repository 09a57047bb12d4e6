"""A concept that distinguishes an item's word from its foil, such as number, in many items: erased, or moved along.

What is erased or added in the items of one half of the groups is fitted to the other half, so that every number is held out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from explorer.analysis.resampling import halve_groups
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute import edges
from explorer.experiments.compute.items import number_groups
from explorer.experiments.compute.question import ROUNDING, STATES, Axis, Batch, Measured, Question, ReadItem, Unusable, round_off
from explorer.experiments.compute.summary import LEAST_P, Place
from explorer.experiments.compute.targets import WORD
from explorer.techniques.directions import random_direction
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


DOSES = (0.0, 0.5, 1.0, 2.0, 4.0)
DOSE = Axis("dose", (*(f"dose {dose:g}" for dose in DOSES), "swap"))
SHUFFLES = 999


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
    _known: Sequence[Known] = ()  # of each half of the groups
    _half: Mapping[int, int]  # by the number of an item
    _classes: Sequence[str]

    def class_of(self, word: str) -> str:
        """The name of a word's class, "" for none."""
        if self.way == WORDS:
            return word.lower()
        return next((f"{number}" for number, words in enumerate(CONCEPTS[self.way]) if word.lower() in words.split()), "")

    def label_of(self, word: str) -> int:
        return self._classes.index(self.class_of(word))

    def usable(self, item: ReadItem) -> None:
        word, foil = (self.class_of(one) for one in (item.item.word, item.item.foil))
        if not (word and foil) or word == foil:
            raise Unusable(f"its word and its foil are not two words that {self.way} tells apart.")

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """Read items of each half of the groups. Raises InputError where a half lacks a class."""
        ordered = sorted(items, key=lambda item: item.number)
        parts = halve_groups(number_groups([item.item for item in ordered]), self.seed)
        self._classes = sorted({self.class_of(word) for item in ordered for word in (item.item.word, item.item.foil)})
        self._half = {ordered[row].number: half for half, rows in enumerate(parts) for row in rows.tolist()}
        self._known = []
        for half, rows in enumerate(parts):
            chosen = np.random.default_rng(self.seed).permutation(rows)[:FITTED]
            known = yield from self._read([ordered[row] for row in sorted(chosen.tolist())])
            self._known.append(known)
            there = {self._classes[label] for label in known.labels.unique().tolist()}
            others = [item.item for item in ordered if self._half[item.number] != half]
            asked = {self.class_of(getattr(item, name)) for item in others for name in self.needs}
            if missing := sorted(asked - there) or (["a second one"] if len(there) < 2 else []):
                raise InputError(
                    f"Each half of the groups needs items of every class, and one has none of {missing[0]}. Add items, or choose "
                    "another concept."
                )

    def _read(self, items: Sequence[ReadItem]) -> Generator[None, None, Known]:
        read, tokens = [], []
        for batch in self.batches(items, 1):
            states = torch.stack(batch.states)  # [states, n, tokens, hidden]
            read.append(batch.read(states))
            places = torch.linspace(0, states.shape[2] - 1, min(TOKENS, states.shape[2])).long()
            tokens += [*states[:, :, places].unbind(1)]
            yield
        return Known(items, torch.tensor([self.label_of(item.item.word) for item in items]), torch.cat(read, 1), tokens)


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
    how = "Erase"
    help = (
        "LEACE (Belrose et al. 2023) erases a concept from a hidden state of the token read or of every token: it is the "
        "smallest change after which no linear classifier finds the class. The picture shows in how many items a probe "
        "(logistic regression) finds it, before and after. The null erases a random subspace of the same rank. KL is the mean "
        f"divergence of the guesses at {OTHERS} other tokens, a measure of other losses. {CONCEPT}"
    )
    finding = (
        "Without {concept} in {place}, selected on {on}, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; without a random subspace by {random}."
    )
    below = "the word loses"
    also = ("probe before", "probe after", "KL")
    places, passes, copies = (STATES, ROLES), 1 + OTHERS, 2  # the concept and a random subspace erased; guesses at other tokens

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """Erasers and probes of each half, at each state and role."""
        yield from super().prepare(items)
        self._fits = {at: self._fit(*at) for at in np.ndindex(len(self._known), *self.shape)}

    def _fit(self, half: int, state: int, role: int) -> Erased:
        known = self._known[half]
        vectors, labels, probed = known.read[state], known.labels, known.read[state]
        if role:
            every = [part[state] for part in known.tokens]
            vectors, probed = torch.cat(every), torch.stack([part.mean(0) for part in every])
            labels = labels.repeat_interleave(torch.tensor([len(part) for part in every]))
        own, random = fit_erasers(vectors, labels, RANDOM, self.seed)
        before, after = (
            fit_head(one.numpy(), known.labels.numpy(), len(self._classes), TrainingSettings()) for one in (probed, own(probed))
        )
        return Erased(own, random, before, after)

    def measure(self, batch: Batch) -> Measured:
        others = torch.tensor([self._others(item) for item in batch.items])
        logs = self._guesses(batch.states[-1], others)  # [n, OTHERS, vocabulary]
        found = torch.empty(2 + len(self.also), len(batch.items), *self.shape)
        for state, hidden in enumerate(batch.states):
            for role in range(self.shape[1]):
                copies = torch.stack([hidden, hidden])  # the concept erased, and a random subspace
                for row, item in enumerate(batch.items):
                    fit, at = self._fits[1 - self._half[item.number], state, role], [item.place] if role == 0 else slice(None)
                    copies[0, row, at] = fit.own(hidden[row, at])
                    copies[1, row, at] = fit.random(hidden[row, at])[int(self.random(item).integers(RANDOM))]
                    probed = hidden[row, at].mean(0, keepdim=True)
                    for column, probe, vector in ((2, fit.before, probed), (3, fit.after, fit.own(probed))):
                        right = probe.outputs(vector.numpy()).argmax() == self.label_of(item.item.word)
                        found[column, row, state, role] = float(right)
                last = copies.flatten(0, 1)
                for layer in self.model.layers[state:]:
                    last = layer(last)
                last = last.unflatten(0, copies.shape[:2])
                found[:2, :, state, role] = batch.differences(batch.read(last)) - batch.before
                found[4, :, state, role] = (logs.exp() * (logs - self._guesses(last[0], others))).sum(-1).mean(-1)
        values, nulls, *also = found
        return Measured(values, round_off(values, nulls), also=also)

    def _others(self, item: ReadItem) -> list[int]:
        """Tokens of an item besides that which is read and the first and last, at random; a token may be drawn again."""
        there = [at for at in range(1, len(item.ids) - 1) if at != item.place] or [0]
        return self.random(item).choice(there, OTHERS).tolist()

    def _guesses(self, hidden: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """The log-probabilities at some tokens, [n, OTHERS, vocabulary], from last hidden states [n, tokens, hidden]."""
        vectors = hidden[torch.arange(len(at))[:, None], at].flatten(0, 1)
        return self.model.masked_lm(vectors).log_softmax(-1).unflatten(0, at.shape)


class Moves(OfConcept):
    """The logit difference with the token that is read moved towards the foil's class less that without, [hidden states, doses].

    A dose α adds α times the difference of the class means at that state, "swap" the coordinate that the foil's class has on
    average. All items of a half share their direction, so items alone cannot show that the classes matter: "shuffled p" is a
    permutation test of each state, and no p value is smaller.
    """

    name, menu = "direction", "Does a direction turn the answer? (steering)"
    beside, each = "a random direction", ("as it is", "at {}")
    how = "Direction"
    help = (
        "The direction is the difference between the mean vectors of both classes at the token read, and dose 1 that distance, "
        "towards the foil's class. *swap* gives the vector the foil's coordinate along the direction and leaves the rest (as "
        "Geiger et al. 2024 do with learned directions). The null moves the vector as far in a random direction. Any direction "
        "turns all items that share it, so q also asks in how many of 999 directions of shuffled classes the effect is as large "
        f"(by the gradient). The state is selected at dose 1. {CONCEPT}"
    )
    finding = (
        "{Place}, selected on {on}: moved towards the foil, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; in a random direction by {random}."
    )
    below = "the foil gains"
    also = (LEAST_P,)
    places, passes, copies = (STATES, DOSE), 1, 2  # along the direction and along a random one
    needs = ("word", "foil")

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The state at which dose 1 turns most."""
        return int(means[:, DOSES.index(1)].argmin()), DOSES.index(1)

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """The p value of each state: the effect Σ gradient · direction, beside that of directions of shuffled classes."""
        yield from super().prepare(items)
        random, count = np.random.default_rng(self.seed), len(self._classes)
        effects = torch.zeros(1 + SHUFFLES, self.shape[0])  # the first is unshuffled
        for known, moved in (self._known, self._known[::-1]):
            towards = torch.zeros(count, self.shape[0], known.read.shape[-1])  # by how much a class mean counts
            for batch in self.batches(moved.items, 3):
                for item, slopes in zip(batch.items, self._gradients(batch), strict=True):
                    towards[self.label_of(item.item.foil)] += slopes
                    towards[self.label_of(item.item.word)] -= slopes
                yield
            each = torch.einsum("csh,snh->ncs", towards, known.read) / len(moved.items)
            each = each / torch.bincount(known.labels, minlength=count).clamp_min(1)[:, None]
            labels = known.labels.numpy()
            for number in range(1 + SHUFFLES):
                given = torch.from_numpy(random.permutation(labels) if number else labels)
                effects[number] += each[torch.arange(len(given)), given].sum(0)
        larger = (effects[1:].abs() >= effects[0].abs() * (1 - ROUNDING)).sum(0)
        self._shuffled = (1 + larger) / (1 + SHUFFLES)  # the p value of each state

    def _gradients(self, batch: Batch) -> torch.Tensor:
        """The gradient of the logit difference by each hidden state of the token that is read, [n, states, hidden]."""
        given = batch.states[0], batch.words, batch.places
        with torch.inference_mode(False), torch.enable_grad():
            hidden, words, places = (one.clone() for one in given)
            rows = torch.arange(len(hidden))
            found = edges.run(self.model, hidden, lambda last: [self.target.differences(last[rows, places], words).sum()])
        return torch.stack([slopes[0, rows, places] for slopes in found.slopes_by("hidden")], 1)

    def measure(self, batch: Batch) -> Measured:
        own, other = (torch.stack([self._mean(item, word) for item in batch.items], 1) for word in self.needs)
        random = torch.stack([random_direction(self.random(item), own.shape[-1]) for item in batch.items])  # [n, hidden]
        found = torch.empty(2, len(batch.items), *self.shape)
        for state, hidden in enumerate(batch.states):
            vectors, way = batch.read(hidden), other[state] - own[state]  # [n, hidden] each
            size = way.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(way.dtype).tiny)
            swapped = ((other[state] - vectors) * way / size).sum(-1, keepdim=True)
            amounts = torch.stack([*(dose * size for dose in DOSES), swapped])  # [doses, n, 1]
            copies = hidden.repeat(2 * len(amounts), 1, 1, 1)
            moved = torch.cat([vectors + amounts * direction for direction in (way / size, random)])
            copies[:, batch.rows, batch.places] = moved
            changes = batch.differences(batch.finish(state, copies)) - batch.before
            found[:, :, state] = changes.unflatten(0, (2, len(amounts))).transpose(1, 2)
        values, nulls = found
        least = self._shuffled[:, None].expand(*values.shape)
        return Measured(values, round_off(values, nulls), also=(least,))

    def _mean(self, item: ReadItem, word: str) -> torch.Tensor:
        """The mean of a word's class in the other half, [states, hidden]."""
        known = self._known[1 - self._half[item.number]]
        return known.read[:, known.labels == self.label_of(getattr(item.item, word))].mean(1)
