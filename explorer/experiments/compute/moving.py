"""The token that is read moved along the direction of a concept, in many items and in several doses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.concepts import CONCEPT, Known, OfConcept
from explorer.experiments.compute.question import ROUNDING, STATES, Axis, Batch, Measured, ReadItem, round_off
from explorer.experiments.compute.reading import batch_items
from explorer.experiments.compute.summary import LEAST_P, Place
from explorer.techniques.directions import random_direction

DOSES = (0.0, 0.5, 1.0, 2.0, 4.0)
DOSE = Axis("dose", (*(f"dose {dose:g}" for dose in DOSES), "swap"))
SHUFFLES = 999


class Moves(OfConcept):
    """The logit difference with the token that is read moved towards the foil's class less that without, [hidden states, doses].

    A dose α adds α times the difference of the class means at that state, "swap" the coordinate that the foil's class has on
    average. All items of a half share their direction, so items alone cannot show that the classes matter: "shuffled p" is a
    permutation test of each state, and no p value is smaller.
    """

    name, menu = "direction", "Does a direction turn the answer? (steering)"
    beside, each = "a random direction", ("as it is", "at {}")
    setting = "moved", "Direction"
    help = (
        "The direction is the difference between the mean vectors of both classes at the token read. Dose 1 moves a vector "
        "by the distance between the two means, towards the foil's class; dose 0 changes nothing. *swap* gives the vector the "
        "foil's coordinate along the direction and leaves the rest (as Geiger et al. 2024 do with learned directions). The "
        "null moves the vector as far in a random direction. Any direction turns all items that share it, so q also asks "
        "whether the classes matter: in how many of 999 directions of shuffled classes is the effect as large (by the "
        f"gradient)? The state is selected at dose 1. {CONCEPT}"
    )
    finding = (
        "{Place}, selected on {on}: moved towards the foil, the logit difference of the other {other} changes by {effect} of "
        "{before} ({by_effect}){doubt}; in a random direction by {random}."
    )
    below = "the foil gains"
    also = (LEAST_P,)
    places, passes, copies = (STATES, DOSE), 1, 2  # along the direction and along a random one
    needs = ("word", "foil")

    def set_up(self) -> None:
        super().set_up()
        self._means: dict[tuple[int, str], torch.Tensor] = {}  # by half and class, [states, hidden]
        self._shuffled = torch.ones(self.shape[0])  # the p value of each state

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The state at which dose 1 turns most."""
        return int(means[:, DOSES.index(1)].argmin()), DOSES.index(1)

    def _fit(self, half: int, known: Known) -> None:
        for label in known.labels.unique().tolist():
            self._means[half, self._classes[label]] = known.read[:, known.labels == label].mean(1)

    def _compare(self, every: Sequence[Known]) -> None:
        """The p value of each state: the effect Σ gradient · direction, beside that of directions of shuffled classes."""
        random, count = np.random.default_rng(self.seed), len(self._classes)
        effects = torch.zeros(1 + SHUFFLES, self.shape[0])  # the first is unshuffled
        for known, moved in (every, every[::-1]):
            towards = torch.zeros(count, self.shape[0], known.read.shape[-1])  # by how much a class mean counts
            for batch in batch_items(self, moved.items, 3):
                for item, slopes in zip(batch.items, self._gradients(batch), strict=True):
                    for word, sign in ((item.item.foil, 1), (item.item.word, -1)):
                        towards[self._classes.index(self.class_of(word))] += sign * slopes
            each = torch.einsum("csh,snh->ncs", towards, known.read) / len(moved.items)
            each = each / torch.bincount(known.labels, minlength=count).clamp_min(1)[:, None]
            labels = known.labels.numpy()
            for number in range(1 + SHUFFLES):
                given = torch.from_numpy(random.permutation(labels) if number else labels)
                effects[number] += each[torch.arange(len(given)), given].sum(0)
        larger = (effects[1:].abs() >= effects[0].abs() * (1 - ROUNDING)).sum(0)
        self._shuffled = (1 + larger) / (1 + SHUFFLES)

    def _gradients(self, batch: Batch) -> torch.Tensor:
        """The gradient of the logit difference by each hidden state of the token that is read, [n, states, hidden]."""
        given = batch.states[0], batch.words, batch.places
        with torch.inference_mode(False), torch.enable_grad():
            hidden, words, places = (one.clone() for one in given)
            rows, leaves = torch.arange(len(hidden)), list[torch.Tensor]()
            for state in range(self.shape[0]):
                hidden = self.model.layers[state - 1](hidden) if state else hidden
                leaves.append(torch.zeros(len(hidden), hidden.shape[-1], requires_grad=True))
                hidden = hidden.index_put((rows, places), leaves[-1], accumulate=True)
            found = torch.autograd.grad(self.target.differences(hidden[rows, places], words).sum(), leaves)
        return torch.stack(found, 1)

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
        """The mean of a class in the other half, [states, hidden]."""
        return self._means[1 - self._half[item.number], self.class_of(getattr(item.item, word))]
