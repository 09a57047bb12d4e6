"""Attribution patching in many items: what patching would bring back, estimated for every place by one gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute import edges
from explorer.experiments.compute.edges import RECEIVERS, SENDERS
from explorer.experiments.compute.patching import COUNTERPART, HEADS_OF, MLP, RESIDUAL, Patching, roles_of
from explorer.experiments.compute.question import Axis, Batch, Measured, ReadItem, place_of, round_off
from explorer.experiments.compute.summary import Place

EDGES = "edges"
INTEGRATED = "_integrated"  # ends the ways that take a path
STRONGEST = 20  # places that are also patched
EXACT = "exact"
STEPS = 5  # of the path from the changed text to the item: as many as Hanna et al. 2024 take


class Estimated(Patching):
    """`Patching` estimated to first order: (item − changed text) · ∂Δ/∂activation, in the run of the changed text.

    Places, sizes, units and the null are those of `Patching`, or places are edges, [senders, receivers]. The STRONGEST ones, by
    the size of their estimate over all items, are patched too: "exact" is what that brings back.
    """

    name, menu = "attribution_patching", "What would patching bring back? (estimate)"
    unit, each = "estimated share recovered", ("changed text", "with {}, estimated")
    how = "Patched in"
    ways: ClassVar[Mapping[str, str]] = {
        HEADS_OF: "the output of heads",
        HEADS_OF + INTEGRATED: "heads, by a path of five",
        RESIDUAL: "the hidden states",
        MLP: "the feed-forward output",
        EDGES: "edges",
        EDGES + INTEGRATED: "edges, by a path of five",
    }
    help = (
        "Attribution patching (Nanda 2023; Syed et al. 2023) estimates *patching* for all places at the same time: the "
        "difference between the activations of the item's own run and the changed text's, times the gradient of the logit "
        "difference in the changed run. A path of five takes the mean gradient at five inputs between the two (EAP-IG, Hanna et "
        "al. 2024), which is closer where softmax saturates. An *edge* is the contribution of the embeddings, a head or a "
        "feed-forward block (MLP) to the input of one later component, through every LayerNorm in between. An estimate can be "
        f"wrong, so the {STRONGEST} largest are patched too. {COUNTERPART} The null is the estimate for other pairs of words."
    )
    finding = (
        "{Place}, selected on {on} by an estimate, would bring back {share} ({by_share}) of the difference in the other {other}"
        "{doubt}; {beside} {random_share}. {Exact}."
    )
    also, preparing = (EXACT,), 0.6
    _estimates: dict[int, torch.Tensor]  # by the number of an item: [1, or 2 with the null, *places]
    _strongest: np.ndarray  # [*places] bool

    def set_up(self) -> None:
        super().set_up()
        self.of_edges, self.steps = self.way.startswith(EDGES), STEPS if self.way.endswith(INTEGRATED) else 1
        if self.of_edges:
            edges.require_edges(self.model)

    @classmethod
    def axes(cls, way: str) -> tuple[Axis, ...]:
        return (SENDERS, RECEIVERS) if way.startswith(EDGES) else super().axes(way)

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The highest estimate."""
        return place_of(int(means.argmax()), means)

    @property
    def cost(self) -> tuple[int, float]:
        """A backward pass takes the memory of about three forward passes; a place that is patched half a pass."""
        return 6 if self.of_edges and self.steps == 1 else 3 * self.steps, 2 + 3 * self.steps + STRONGEST / 2

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """All estimates, which choose the places that are patched."""
        self._estimates, total = {}, np.zeros(self.shape)
        readers = [edges.readers_of(layer) for layer in self.model.layers] if self.of_edges else []
        for batch in self.batches(items):
            mine, theirs = self._runs(batch)
            ends = self.ends(batch)
            sizes = torch.sub(*batch.differences(ends.flip(0)))
            along = self._along(batch, sizes, *(self.random_pairs(batch, ends) if self.has_nulls else ()))
            values = self._estimate(batch, readers, mine, theirs, along)
            for item, estimates, size in zip(batch.items, values.transpose(0, 1), sizes, strict=True):
                self._estimates[item.number] = estimates
                total += estimates[0].numpy() * float(size > 0)
            yield
        self._strongest = np.zeros(self.shape, dtype=bool)
        self._strongest.flat[np.argsort(-np.abs(total), axis=None, kind="stable")[:STRONGEST]] = True

    def measure(self, batch: Batch) -> Measured:
        runs = self._runs(batch) if self.of_edges else None
        before, whole = batch.differences(self.ends(batch))
        values, *nulls = torch.stack([self._estimates[item.number] for item in batch.items], 1)
        exact = torch.full((*self.shape, len(batch.items)), torch.nan)
        if runs:
            patched = edges.vectors_with(batch, *runs, np.argwhere(self._strongest).tolist())
        else:
            patched = self.vectors(batch, self._strongest)[self._strongest]
        exact[self._strongest] = batch.differences(patched) - before
        null = round_off(values, nulls[0]) if nulls else None
        return Measured(values, null, whole - before, also=(exact.permute(2, 0, 1),), before=before)

    def _runs(self, batch: Batch) -> tuple[edges.Run, edges.Run]:
        """The items' own runs and those of the changed texts. The states that they have seen are not computed again."""
        mine, theirs = (edges.run(self.model, next(batch.states_of(name))) for name in ("ids", "changed"))
        vars(batch).update(states=mine.of("hidden"), changed=theirs.of("hidden"))
        return mine, theirs

    def _along(self, batch: Batch, sizes: torch.Tensor, *pairs: torch.Tensor) -> edges.Run:
        """The run of which slopes are taken, or all steps of the path as one batch, [steps · n].

        The slopes are those of the sum of the differences, and of other pairs of words by their weights, if they are given.
        """
        own, changed, shares = batch.states[0], batch.changed[0], range(1, STEPS + 1) if self.steps > 1 else [0]
        rows = torch.arange(len(own)).repeat(len(shares))
        path = torch.cat([changed + share / STEPS * (own - changed) for share in shares])
        asked = [one[rows] for one in (batch.places, batch.words, sizes, *pairs)]

        def numbers(last: torch.Tensor) -> list[torch.Tensor]:
            places, words, sizes, *others = (one.clone() for one in asked)
            read = last[torch.arange(len(last)), places]
            found = [self.target.differences(read, words).sum()]
            if others:
                found.append(((self.target.differences(read, others[0]) * others[1]).sum(-1) * sizes).sum())
            return found

        with torch.inference_mode(False), torch.enable_grad():  # a gradient keeps nothing that inference mode made
            return edges.run(self.model, path.clone(), numbers)

    def _estimate(
        self, batch: Batch, readers: Sequence[torch.Tensor], mine: edges.Run, theirs: edges.Run, along: edges.Run
    ) -> torch.Tensor:
        """The estimates, [1 or 2, n, *places]."""
        count, steps = len(batch.items), self.steps
        if self.of_edges:
            runs = readers, mine, theirs, along
            each = (
                sum(edges.estimate(self.model, *runs, (item, step * count + item)) for step in range(steps))
                for item in range(count)
            )
            return torch.stack([*each], 1) / steps
        name = {RESIDUAL: "hidden", MLP: "added"}.get(self.way, "context")
        slopes = [slope.unflatten(1, (steps, count)).mean(1) for slope in along.slopes_by(name)]
        given = zip(mine.of(name), theirs.of(name), slopes, strict=True)
        parts = torch.stack([(one - two) * slope for one, two, slope in given], 2)  # [1 or 2, n, layers or states, …]
        if name == "context":
            return parts.sum((4, 5))  # over tokens and numbers
        return torch.einsum("rnt,knlt->knlr", roles_of(batch).to(parts.dtype), parts.sum(-1))
