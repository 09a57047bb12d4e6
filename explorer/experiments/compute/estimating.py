"""Attribution patching in many items: what patching would bring back, estimated for every place by one gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from explorer.bert import attending
from explorer.core.engine import torch
from explorer.experiments.compute.patching import HEADS_OF, MLP, RESIDUAL, Patching, roles_of
from explorer.experiments.compute.question import Axis, Group, Measured, changed_states, own_states
from explorer.experiments.compute.summary import Place, highest

INTEGRATED = "heads_integrated"
STEPS = 5  # of the path from the changed text to the item: as many as Hanna et al. 2024 take


@dataclass(frozen=True)
class Estimated(Patching):
    """`Patching` estimated to first order: (item − changed text) · ∂Δ/∂activation, in the run of the changed text.

    Attribution patching (Nanda 2023; Syed et al. 2023): two forward passes and one backward pass for all places together. Places,
    sizes and units are those of `Patching`. "heads_integrated" takes the mean gradient at STEPS inputs on the straight line from
    the changed text's embeddings to the item's (EAP-IG, Hanna et al. 2024). There is no null: the test is of 0.
    """

    name = "attribution_patching"
    ways: ClassVar[tuple[str, ...]] = (HEADS_OF, INTEGRATED, RESIDUAL, MLP)

    @property
    def has_nulls(self) -> bool:
        return False

    @property
    def shape(self) -> tuple[int, ...]:
        """As of exact patching."""
        has = self.model.capabilities
        return (has.layers, has.heads) if self.way == INTEGRATED else super().shape

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        return super().axes(HEADS_OF if way == INTEGRATED else way, shape)

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The highest estimate."""
        return highest

    @property
    def copies(self) -> int:
        """A backward pass holds what about three forward passes do."""
        return 3

    @property
    def passes(self) -> float:
        """Two passes, and a forward and a backward one for each gradient."""
        return 2 + 3 * (STEPS if self.way == INTEGRATED else 1)

    def measure(self, group: Group) -> Measured:
        """All places at the same time."""
        own, changed = own_states(self.model, group), changed_states(self.model, group)
        words, whole = self.before(own, group)
        before = self.target.differences(changed[-1][group.rows, group.places], words)
        with torch.inference_mode(False), torch.enable_grad():
            values = self._estimate(group, own[0].clone(), changed[0].clone(), words.clone())
        return Measured(words, before, values, sizes=whole - before)

    def _estimate(self, group: Group, own: torch.Tensor, changed: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The estimates, [n, *places], from both embedding outputs [n, tokens, hidden]."""
        ends = [self._run(group, hidden, words)[0] for hidden in (own, changed)]
        steps = range(1, STEPS + 1) if self.way == INTEGRATED else (0,)
        gradients = [self._run(group, changed + step / STEPS * (own - changed), words)[1] for step in steps]
        mean = [torch.stack(parts).mean(0) for parts in zip(*gradients, strict=True)]
        parts = [(mine - other) * gradient for mine, other, gradient in zip(*ends, mean, strict=True)]
        if self.way in (HEADS_OF, INTEGRATED):
            return torch.stack([part.sum((2, 3)) for part in parts], 1)  # [n, layers, heads]
        roles = roles_of(group).clone().to(own.dtype)  # [roles, n, tokens]
        return torch.stack([torch.einsum("rnt,nt->nr", roles, part.sum(-1)) for part in parts], 1)

    def _run(
        self, group: Group, hidden: torch.Tensor, words: torch.Tensor
    ) -> tuple[list[torch.Tensor], tuple[torch.Tensor, ...]]:
        """What is patched in a run, by layer or hidden state, and the gradient of the difference by each."""
        found: list[torch.Tensor] = []
        leaves: list[torch.Tensor] = []

        def watch(activation: torch.Tensor) -> torch.Tensor:
            found.append(activation.detach())
            leaves.append(torch.zeros_like(activation, requires_grad=True))
            return activation + leaves[-1]

        hidden = watch(hidden) if self.way == RESIDUAL else hidden
        for layer in self.model.layers:
            if self.way == MLP:
                hidden = layer.with_feed_forward(hidden, watch)
            elif self.way == RESIDUAL:
                hidden = watch(layer(hidden))
            else:
                hidden = attending.answering(lambda heads: watch(heads.context()), partial(layer, hidden))
        read = hidden[torch.arange(len(hidden)), group.places.clone()]  # what inference mode made cannot be kept for a gradient
        return found, torch.autograd.grad(self.target.differences(read, words).sum(), leaves)
