"""A concept that tells an item's word from its foil, such as number: erased from hidden states, or moved along its direction.

What is erased or added in the items of one half of the groups is fitted to the other half, so that every number is held out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.resampling import halves
from explorer.bert.network import Network
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute.heads_off import last_vectors
from explorer.experiments.compute.items import number_groups
from explorer.experiments.compute.patching import ROUNDING
from explorer.experiments.compute.question import (
    STATES,
    Axis,
    Group,
    Measured,
    Part,
    Question,
    ReadItem,
    Unusable,
    numbered,
    own_states,
)
from explorer.experiments.compute.reading import grouped
from explorer.experiments.compute.summary import Place, falls, lowest
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
ROLES = ("token read", "every token")
RANDOM = 16  # subspaces of the null
FITTED, TOKENS = 200, 16  # items of a half that are fitted to, and tokens of each
OTHERS = 4  # tokens of an item whose guesses are compared
DOSES = (0.0, 0.5, 1.0, 2.0, 4.0)
SWAP = "swap"


@dataclass(frozen=True)
class Known:
    """Items of one half: their classes [n], and vectors of the token read [states, n, hidden] and of all tokens, by item."""

    labels: torch.Tensor
    read: torch.Tensor
    tokens: Sequence[torch.Tensor]  # [states, tokens, hidden] each


@dataclass(frozen=True)
class OfConcept(Question):
    """A question about the concept that tells the words of the items from their foils: CONCEPTS, or the words as they are."""

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
        """The concept must tell word and foil apart."""
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
        for half, rows in enumerate(parts):
            chosen = np.random.default_rng(self.seed).permutation(rows)[:FITTED]
            known = yield from self._read([ordered[row] for row in sorted(chosen.tolist())])
            there = {self._classes[label] for label in known.labels.unique().tolist()}
            asked = {self.class_of(word) for one in ordered if self._half[one.number] != half for word in self._needs(one)}
            if missing := sorted(asked - there) or (["a second one"] if len(there) < 2 else []):
                raise InputError(
                    f"Each half of the groups needs items of every class, and one has none of {missing[0]}; add items, or choose "
                    "another concept."
                )
            self._fit(half, known)
            yield 0.0, np.empty((0, self.width), np.float32)

    def _needs(self, item: ReadItem) -> tuple[str, ...]:
        """The words of an item whose classes must be known."""
        return ()

    def _fit(self, half: int, known: Known) -> None:
        raise NotImplementedError

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


@dataclass(frozen=True)
class Erased:
    """What was fitted to one half at one state and role: two erasers, and probes of vectors before and after erasure."""

    own: Eraser
    random: Eraser
    before: Head
    after: Head


@dataclass(frozen=True)
class Erases(OfConcept):
    """The logit difference with a concept erased from a hidden state less that without, [hidden states, ROLES].

    LEACE (Belrose et al. 2023) takes away the least that leaves a linear classifier nothing: from the token that is read, or from
    every token. The null erases one of RANDOM random subspaces of the same rank. "probe before" and "probe after" are whether a
    logistic regression of the token's vector (of the mean of all) finds the class of the item's word, 0 or 1; "KL" is the mean
    divergence, in nats, of the guesses at OTHERS other tokens.
    """

    name = "erase"
    also = ("probe before", "probe after", "KL")
    _fits: dict[tuple[int, int, int], Erased] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.model.capabilities.layers + 1, len(ROLES))

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Hidden states from 0, and roles."""
        return *numbered(shape[:1], STATES), Axis("tokens", ROLES)

    @property
    def copies(self) -> int:
        """Each role, with the concept and with a random subspace erased."""
        return 2 * len(ROLES)

    @property
    def passes(self) -> float:
        """A run from every state for each copy, and guesses at other tokens."""
        return 2 + self.copies * (self.shape[0] / 2 + OTHERS / 2)

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

    def measure(self, group: Group) -> Measured:
        """Every state and role."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        others = [self._others(item) for item in group.items]
        logs = _guesses(self.model, states[-1], others)  # [n, OTHERS, vocabulary]
        found = torch.empty(2 + len(self.also), len(group.items), *self.shape)
        for state, hidden in enumerate(states):
            for role in range(len(ROLES)):
                fits = [self._fits[1 - self._half[item.number], state, role] for item in group.items]
                copies = torch.stack([hidden, hidden])  # the concept erased, and a random subspace
                for row, (item, fit) in enumerate(zip(group.items, fits, strict=True)):
                    at = [item.place] if role == 0 else slice(None)
                    copies[0, row, at] = fit.own(hidden[row, at])
                    copies[1, row, at] = self._one(fit.random, item)(hidden[row, at])
                last = copies.flatten(0, 1)
                for layer in self.model.layers[state:]:
                    last = layer(last)
                last = last.unflatten(0, copies.shape[:2])
                changes = self.target.differences(last[:, group.rows, group.places], words) - before
                after = _guesses(self.model, last[0], others)
                found[:2, :, state, role] = changes
                found[2:4, :, state, role] = self._probed(group, hidden, fits, role)
                found[4, :, state, role] = (logs.exp() * (logs - after)).sum(-1).mean(-1)
        values, nulls, *also = found
        return Measured(words, before, values, torch.where((values - nulls).abs() < ROUNDING, values, nulls), also=also)

    def _probed(self, group: Group, hidden: torch.Tensor, fits: Sequence[Erased], role: int) -> torch.Tensor:
        """Whether the probe before and after erasure finds the class, 1 or 0: [2, n]."""
        vectors = hidden[group.rows, group.places] if role == 0 else hidden.mean(1)
        hits = torch.empty(2, len(fits))
        for row, (item, fit) in enumerate(zip(group.items, fits, strict=True)):
            label = self._classes.index(self.class_of(item.item.word))
            own = vectors[row : row + 1]
            for which, (probe, one) in enumerate(((fit.before, own), (fit.after, fit.own(own)))):
                hits[which, row] = float(probe.outputs(one.numpy()).argmax() == label)
        return hits

    def _one(self, random: Eraser, item: ReadItem) -> Eraser:
        """One of the random subspaces."""
        which = int(np.random.default_rng((self.seed, item.number)).integers(RANDOM))
        return Eraser(random.mean, random.left[which], random.right[which])

    def _others(self, item: ReadItem) -> list[int]:
        """Tokens of an item besides that which is read and the first and last, at random; a token may be drawn again."""
        there = [at for at in range(1, len(item.ids) - 1) if at != item.place] or [0]
        return np.random.default_rng((self.seed, item.number)).choice(there, OTHERS).tolist()


def _guesses(model: Network, hidden: torch.Tensor, places: Sequence[Sequence[int]]) -> torch.Tensor:
    """The log-probabilities at some tokens, [n, OTHERS, vocabulary], from last hidden states [n, tokens, hidden]."""
    at = torch.tensor(places)
    return model.masked_lm(hidden[torch.arange(len(at))[:, None], at].flatten(0, 1)).log_softmax(-1).unflatten(0, at.shape)


@falls
def lowest_at_one(means: np.ndarray) -> Place:
    """The hidden state with the lowest mean at dose 1, of means [hidden states, doses]."""
    dose = DOSES.index(1)
    return int(means[:, dose].argmin()), dose


@dataclass(frozen=True)
class Moves(OfConcept):
    """The logit difference with the token that is read moved towards the foil's class less that without, [hidden states, doses].

    The direction is the difference of the class means at that state. A dose α adds α times it, so that 1 leads from one mean to
    the other; "swap" gives the vector the coordinate along it that the foil's class has on average, and leaves the rest (the swap
    of one coordinate, as in Geiger et al. 2024, with a mean in the place of another input's). The null moves the vector as far in
    a random direction.
    """

    name = "direction"
    _means: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.model.capabilities.layers + 1, len(DOSES) + 1)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Hidden states from 0, and doses."""
        return *numbered(shape[:1], STATES), Axis("dose", (*(f"dose {dose:g}" for dose in DOSES), SWAP))

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The state at which dose 1 turns most."""
        return lowest_at_one

    @property
    def copies(self) -> int:
        """Each dose, along the direction and along a random one."""
        return 2 * self.shape[1]

    @property
    def passes(self) -> float:
        """Half of the layers for each copy at each state."""
        return 2 + self.copies * self.shape[0] / 2

    def _needs(self, item: ReadItem) -> tuple[str, ...]:
        return item.item.word, item.item.foil

    def _fit(self, half: int, known: Known) -> None:
        for label, name in enumerate(self._classes):
            if (known.labels == label).any():
                self._means[half, name] = known.read[:, known.labels == label].mean(1)  # [states, hidden]

    def measure(self, group: Group) -> Measured:
        """Every state and dose."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        own, other = (torch.stack([self._mean(item, word) for item in group.items], 1) for word in ("word", "foil"))
        random = torch.stack([self._random(item, own.shape[-1]) for item in group.items])  # [n, hidden]
        found = torch.empty(2, len(group.items), *self.shape)
        for state, hidden in enumerate(states):
            vectors, way = hidden[group.rows, group.places], other[state] - own[state]  # [n, hidden] each
            size = way.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(way.dtype).tiny)
            swapped = ((other[state] - vectors) * way / size).sum(-1, keepdim=True)
            amounts = torch.stack([*(dose * size for dose in DOSES), swapped])  # [doses, n, 1]
            moved = torch.stack([vectors + amounts * direction for direction in (way / size, random)])
            copies = hidden.repeat(2 * len(amounts), 1, 1)
            places = group.places.repeat(2 * len(amounts))
            copies[torch.arange(len(copies)), places] = moved.flatten(0, 2)
            last = last_vectors(self.model, state, copies, places).unflatten(0, moved.shape[:3])
            found[:, :, state] = (self.target.differences(last, words) - before).transpose(1, 2)
        values, nulls = found
        return Measured(words, before, values, torch.where((values - nulls).abs() < ROUNDING, values, nulls))

    def _mean(self, item: ReadItem, word: str) -> torch.Tensor:
        """The mean of a class in the other half, [states, hidden]."""
        return self._means[1 - self._half[item.number], self.class_of(getattr(item.item, word))]

    def _random(self, item: ReadItem, size: int) -> torch.Tensor:
        """A direction of length 1."""
        drawn = torch.from_numpy(np.random.default_rng((self.seed, item.number)).normal(size=size).astype(np.float32))
        return drawn / drawn.norm()
