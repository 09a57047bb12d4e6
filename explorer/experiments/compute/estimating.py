"""Attribution patching in many items: what patching would bring back, estimated for every place by one gradient."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from explorer.bert import attending
from explorer.core.engine import torch
from explorer.experiments.compute.patching import HEADS_OF, MLP, RESIDUAL, Patching, roles_of
from explorer.experiments.compute.question import Group, Measured, Part, ReadItem, changed_states, own_states
from explorer.experiments.compute.reading import grouped
from explorer.experiments.compute.summary import Place, highest

INTEGRATED = "heads_integrated"
STRONGEST = 20  # places that are also patched
EXACT = "exact"
STEPS = 5  # of the path from the changed text to the item: as many as Hanna et al. 2024 take


@dataclass(frozen=True)
class Estimated(Patching):
    """`Patching` estimated to first order: (item − changed text) · ∂Δ/∂activation, in the run of the changed text.

    Attribution patching (Nanda 2023; Syed et al. 2023): two forward passes and one backward pass for all places together. Places,
    sizes and units are those of `Patching`. "heads_integrated" takes the mean gradient at STEPS inputs on the straight line from
    the changed text's embeddings to the item's (EAP-IG, Hanna et al. 2024). It has no null: the test is of 0. The STRONGEST
    places, by the size of their estimate over all items, are patched too: "exact" is what that brings back.
    """

    name = "attribution_patching"
    ways: ClassVar[tuple[str, ...]] = (HEADS_OF, INTEGRATED, RESIDUAL, MLP)
    also = (EXACT,)
    _estimates: dict[int, torch.Tensor] = field(default_factory=dict, init=False, repr=False, compare=False)  # by item
    _strongest: list[np.ndarray] = field(default_factory=list, init=False, repr=False, compare=False)  # [*places] bool

    @property
    def has_nulls(self) -> bool:
        return False

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The highest estimate."""
        return highest

    @property
    def copies(self) -> int:
        """A backward pass takes the memory of about three forward passes."""
        return 3

    @property
    def passes(self) -> float:
        """Two passes, a forward and a backward one for each gradient, and a half for each place that is patched."""
        return 4 + 3 * (STEPS if self.way == INTEGRATED else 1) + STRONGEST / 2

    def prepare(self, items: Sequence[ReadItem]) -> Generator[Part, None, None]:
        """All estimates, which choose the places that are patched."""
        nothing, total = np.empty((0, self.width), np.float32), np.zeros(self.shape)
        for batch in grouped([len(item.ids) for item in items], 0, self.copies):
            group = Group.of(items[batch])
            own, changed = own_states(self.model, group), changed_states(self.model, group)
            words, whole = self.before(own, group)
            before = self.target.differences(changed[-1][group.rows, group.places], words)
            with torch.inference_mode(False), torch.enable_grad():
                values = self._estimate(group, own[0].clone(), changed[0].clone(), words.clone())
            for item, estimate, size in zip(group.items, values, whole - before, strict=True):
                self._estimates[item.number] = estimate
                total += estimate.numpy() * float(size > 0)
            yield 0.0, nothing
        strongest = np.zeros(self.shape, dtype=bool)
        strongest.flat[np.argsort(-np.abs(total), axis=None, kind="stable")[:STRONGEST]] = True
        self._strongest[:] = [strongest]

    def measure(self, group: Group) -> Measured:
        """The estimates, and exact patching of the strongest."""
        exact = super().measure(group)
        values = torch.stack([self._estimates[item.number] for item in group.items])
        return Measured(exact.words, exact.before, values, sizes=exact.sizes, also=(exact.values,))

    def vectors(
        self, group: Group, own: list[torch.Tensor], changed: list[torch.Tensor], chosen: np.ndarray | None = None
    ) -> torch.Tensor:
        """Only for the strongest places."""
        return super().vectors(group, own, changed, self._strongest[0])

    def _estimate(self, group: Group, own: torch.Tensor, changed: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The estimates, [n, *places], from both embedding outputs [n, tokens, hidden]."""
        integrated = self.way == INTEGRATED
        mine, _ = self._run(group, own, words, slopes=False)
        other, slope = self._run(group, changed, words, slopes=not integrated)
        path = [changed + step / STEPS * (own - changed) for step in range(1, STEPS + 1)] if integrated else []
        gradients = [self._run(group, hidden, words)[1] for hidden in path] or [slope]
        mean = [torch.stack(parts).mean(0) for parts in zip(*gradients, strict=True)]
        parts = [(one - two) * gradient for one, two, gradient in zip(mine, other, mean, strict=True)]
        if self.way in (HEADS_OF, INTEGRATED):
            return torch.stack([part.sum((2, 3)) for part in parts], 1)  # [n, layers, heads]
        roles = roles_of(group).clone().to(own.dtype)  # [roles, n, tokens]
        return torch.stack([torch.einsum("rnt,nt->nr", roles, part.sum(-1)) for part in parts], 1)

    def _run(
        self, group: Group, hidden: torch.Tensor, words: torch.Tensor, slopes: bool = True
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
        read = hidden[torch.arange(len(hidden)), group.places.clone()]  # what inference mode made cannot be kept for a gradient
        return found, torch.autograd.grad(self.target.differences(read, words).sum(), leaves)
