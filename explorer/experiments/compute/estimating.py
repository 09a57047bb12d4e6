"""Attribution patching in many items: what patching would bring back, estimated for every place by one gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from explorer.bert import attending
from explorer.core.engine import torch
from explorer.experiments.compute.patching import COUNTERPART, HEADS_OF, MLP, RESIDUAL, Patching, roles_of
from explorer.experiments.compute.question import Batch, Measured, ReadItem, place_of
from explorer.experiments.compute.reading import batched
from explorer.experiments.compute.summary import Place

INTEGRATED = "heads_integrated"
STRONGEST = 20  # places that are also patched
EXACT = "exact"
STEPS = 5  # of the path from the changed text to the item: as many as Hanna et al. 2024 take


class Estimated(Patching):
    """`Patching` estimated to first order: (item − changed text) · ∂Δ/∂activation, in the run of the changed text.

    Places, sizes and units are those of `Patching`. It has no null: the test is of 0. The STRONGEST places, by the size of their
    estimate over all items, are patched too: "exact" is what that brings back.
    """

    name, menu = "attribution_patching", "What would patching bring back? (estimate)"
    unit, null, each = "estimated share recovered", "", ("changed text", "with {}, estimated")
    setting = "estimated", "Patched in"
    ways: ClassVar[Mapping[str, str]] = {
        HEADS_OF: "the output of heads",
        INTEGRATED: "heads, by a path of five",
        RESIDUAL: "the hidden states",
        MLP: "the feed-forward output",
    }
    help = (
        "Attribution patching (Nanda 2023; Syed et al. 2023) estimates *patching* for all places at the same time: what an "
        "item's own run has there, less what that of its changed text has, times the gradient of the logit difference in the "
        "run of the changed text. A path of five takes the mean gradient at five inputs between the two (EAP-IG, Hanna et al. "
        f"2024), which is closer where softmax saturates. A first-order estimate can be wrong, so the {STRONGEST} places with "
        f"the largest estimates are patched too. {COUNTERPART}"
    )
    finding = (
        "{Place}, selected on {on} by an estimate, would bring back {share} ({by_share}) of the difference in the other {other}"
        "{doubt}; {exact}."
    )
    also = (EXACT,)
    _estimates: dict[int, torch.Tensor]  # by the number of an item
    _strongest: np.ndarray  # [*places] bool

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The highest estimate."""
        return place_of(int(means.argmax()), means)

    @property
    def cost(self) -> tuple[int, float]:
        """A backward pass takes the memory of about three forward passes; a place that is patched half a pass."""
        return 3, 4 + 3 * (STEPS if self.way == INTEGRATED else 1) + STRONGEST / 2

    def prepare(self, items: Sequence[ReadItem]) -> Iterator[None]:
        """All estimates, which choose the places that are patched."""
        self._estimates, total = {}, np.zeros(self.shape)
        for batch in batched(self, items):
            sizes = batch.before - batch.differences(batch.read(batch.changed[-1]))
            own, changed, words = batch.states[0], batch.changed[0], batch.words
            with torch.inference_mode(False), torch.enable_grad():
                values = self._estimate(batch, own.clone(), changed.clone(), words.clone())
            for item, estimate, size in zip(batch.items, values, sizes, strict=True):
                self._estimates[item.number] = estimate
                total += estimate.numpy() * float(size > 0)
            yield
        self._strongest = np.zeros(self.shape, dtype=bool)
        self._strongest.flat[np.argsort(-np.abs(total), axis=None, kind="stable")[:STRONGEST]] = True

    def measure(self, batch: Batch) -> Measured:
        exact = super().measure(batch)
        values = torch.stack([self._estimates[item.number] for item in batch.items])
        return Measured(values, sizes=exact.sizes, also=(exact.values,), before=exact.before)

    def vectors(self, batch: Batch, chosen: np.ndarray | None = None) -> torch.Tensor:
        """Only for the strongest places."""
        return super().vectors(batch, self._strongest)

    def _estimate(self, batch: Batch, own: torch.Tensor, changed: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The estimates, [n, *places], from both embedding outputs [n, tokens, hidden]."""
        integrated = self.way == INTEGRATED
        mine, _ = self._run(batch, own, words, slopes=False)
        other, slope = self._run(batch, changed, words, slopes=not integrated)
        path = [changed + step / STEPS * (own - changed) for step in range(1, STEPS + 1)] if integrated else []
        gradients = [self._run(batch, hidden, words)[1] for hidden in path] or [slope]
        mean = [torch.stack(parts).mean(0) for parts in zip(*gradients, strict=True)]
        parts = [(one - two) * gradient for one, two, gradient in zip(mine, other, mean, strict=True)]
        if self.way in (HEADS_OF, INTEGRATED):
            return torch.stack([part.sum((2, 3)) for part in parts], 1)  # [n, layers, heads]
        roles = roles_of(batch).clone().to(own.dtype)  # [roles, n, tokens]
        return torch.stack([torch.einsum("rnt,nt->nr", roles, part.sum(-1)) for part in parts], 1)

    def _run(
        self, batch: Batch, hidden: torch.Tensor, words: torch.Tensor, slopes: bool = True
    ) -> tuple[list[torch.Tensor], tuple[torch.Tensor, ...]]:
        """What is patched in a run, by layer or hidden state, and the gradient of the difference by each, if asked."""
        found: list[torch.Tensor] = []
        leaves: list[torch.Tensor] = []

        def watch(activation: torch.Tensor) -> torch.Tensor:
            found.append(activation.detach())
            leaves.append(torch.zeros_like(activation, requires_grad=slopes))
            return activation + leaves[-1]

        hidden = watch(hidden) if self.way == RESIDUAL else hidden
        for layer in self.model.layers:
            if self.way == MLP:
                hidden = layer.with_feed_forward(hidden, watch)
            elif self.way == RESIDUAL:
                hidden = watch(layer(hidden))
            else:
                hidden = attending.answer_with(lambda heads: watch(heads.context()), partial(layer, hidden))
        if not slopes:
            return found, ()
        read = hidden[torch.arange(len(hidden)), batch.places.clone()]  # what inference mode made cannot be kept for a gradient
        return found, torch.autograd.grad(self.target.differences(read, words).sum(), leaves)
