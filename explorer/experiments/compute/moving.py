"""The token that is read moved along the direction of a concept, in many items and in several doses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.concepts import Known, OfConcept
from explorer.experiments.compute.heads_off import last_vectors
from explorer.experiments.compute.patching import ROUNDING
from explorer.experiments.compute.question import STATES, Axis, Group, Measured, ReadItem, numbered, own_states
from explorer.experiments.compute.summary import Place, falls

DOSES = (0.0, 0.5, 1.0, 2.0, 4.0)
SWAP = "swap"


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
