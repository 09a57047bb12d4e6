"""The token that is read moved along the direction of a concept, in many items and in several doses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.concepts import Known, OfConcept
from explorer.experiments.compute.heads_off import last_vectors
from explorer.experiments.compute.patching import ROUNDING, round_off
from explorer.experiments.compute.question import STATES, Axis, Group, Measured, ReadItem, numbered, own_states
from explorer.experiments.compute.reading import grouped
from explorer.experiments.compute.summary import LEAST_P, Place, falls

DOSES = (0.0, 0.5, 1.0, 2.0, 4.0)
SWAP = "swap"
SHUFFLES = 999


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
    a random direction. All items of a half share their direction, and any direction that they share turns them together, so items
    alone cannot show that the classes matter: "shuffled p" is a permutation test of each state, in which SHUFFLES directions of
    shuffled classes have an effect of that size, by the gradient. No p value is smaller.
    """

    name = "direction"
    also = (LEAST_P,)
    _shuffled: list[torch.Tensor] = field(default_factory=list, init=False, repr=False, compare=False)  # [states]
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

    def _compare(self, halves: Sequence[tuple[Sequence[ReadItem], Known]]) -> None:
        """The p value of each state: the effect Σ gradient · direction, beside that of directions of shuffled classes."""
        random, count = np.random.default_rng(self.seed), len(self._classes)
        effects = torch.zeros(1 + SHUFFLES, self.shape[0])  # the first is unshuffled
        for (_, known), (items, _) in (halves, halves[::-1]):
            towards = torch.zeros(count, self.shape[0], known.read.shape[-1])  # by how much a class mean counts
            for batch in grouped([len(item.ids) for item in items], 0, 3):
                for item, slopes in zip(items[batch], self._gradients(Group.of(items[batch])), strict=True):
                    for word, sign in ((item.item.foil, 1), (item.item.word, -1)):
                        towards[self._classes.index(self.class_of(word))] += sign * slopes
            each = torch.einsum("csh,snh->ncs", towards, known.read) / len(items)
            each = each / torch.bincount(known.labels, minlength=count).clamp_min(1)[:, None]
            labels = known.labels.numpy()
            for number in range(1 + SHUFFLES):
                given = torch.from_numpy(random.permutation(labels) if number else labels)
                effects[number] += each[torch.arange(len(given)), given].sum(0)
        larger = (effects[1:].abs() >= effects[0].abs() * (1 - ROUNDING)).sum(0)
        self._shuffled[:] = [(1 + larger) / (1 + SHUFFLES)]

    def _gradients(self, group: Group) -> torch.Tensor:
        """The gradient of the logit difference by each hidden state of the token that is read, [n, states, hidden]."""
        states = own_states(self.model, group)
        words, _ = self.before(states, group)
        with torch.inference_mode(False), torch.enable_grad():
            hidden, words, places = states[0].clone(), words.clone(), group.places.clone()
            rows, leaves = torch.arange(len(hidden)), list[torch.Tensor]()
            for state in range(self.shape[0]):
                hidden = self.model.layers[state - 1](hidden) if state else hidden
                leaves.append(torch.zeros(len(hidden), hidden.shape[-1], requires_grad=True))
                hidden = hidden.index_put((rows, places), leaves[-1], accumulate=True)
            found = torch.autograd.grad(self.target.differences(hidden[rows, places], words).sum(), leaves)
        return torch.stack(found, 1)

    def measure(self, group: Group) -> Measured:
        """Every state and dose."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        own, other = (torch.stack([self._mean(item, word) for item in group.items], 1) for word in ("word", "foil"))
        random = torch.stack([self._direction(item, own.shape[-1]) for item in group.items])  # [n, hidden]
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
        least = self._shuffled[0][:, None].expand(*values.shape)
        return Measured(words, before, values, round_off(values, nulls), also=(least,))

    def _mean(self, item: ReadItem, word: str) -> torch.Tensor:
        """The mean of a class in the other half, [states, hidden]."""
        return self._means[1 - self._half[item.number], self.class_of(getattr(item.item, word))]

    def _direction(self, item: ReadItem, size: int) -> torch.Tensor:
        """A random direction of length 1."""
        drawn = torch.from_numpy(self.random(item).normal(size=size).astype(np.float32))
        return drawn / drawn.norm()
