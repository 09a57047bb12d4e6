"""Interchange patching in many items: what of the item's own run, put into that of its changed text, brings its answer back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.heads_off import last_vectors, without_heads
from explorer.experiments.compute.question import (
    LAYERS,
    STATES,
    Axis,
    Group,
    Measured,
    Question,
    ReadItem,
    Unusable,
    changed_states,
    numbered,
    own_states,
)
from explorer.experiments.compute.summary import Place, highest

RESIDUAL, HEADS_OF, MLP = "residual", "heads", "mlp"
ROLES = ("changed words", "other words", "token read")


@dataclass(frozen=True)
class Patching(Question):
    """The logit difference of the changed text with a part of the item's own run in it, less that without.

    Interchange interventions (Geiger et al. 2021), or activation patching (Zhang & Nanda 2024). The sizes are the whole
    difference between the item and its changed text, so that the mean is the share that is recovered: 0 is the changed text,
    1 the item. What is taken over, for all tokens of a role together (those where the texts differ, the one that is read, the
    rest):

    - "residual": the hidden state, [hidden states, roles];
    - "mlp": what the feed-forward block adds, [layers, roles];
    - "heads": a head's context before W_O at every token, [layers, heads].
    """

    name = "patching"
    ways = (RESIDUAL, HEADS_OF, MLP)
    needs_marks = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.way == MLP:
            self.model.require("neurons")

    @property
    def shape(self) -> tuple[int, ...]:
        """Hidden states or layers, and roles or heads."""
        has = self.model.capabilities
        return {RESIDUAL: (has.layers + 1, len(ROLES)), MLP: (has.layers, len(ROLES))}.get(self.way, super().shape)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Layers and heads from 1; with roles, layers or hidden states."""
        if way == HEADS_OF:
            return super().axes(way, shape)
        return *numbered(shape[:1], STATES if way == RESIDUAL else LAYERS), Axis("tokens", ROLES)

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The highest share, or the first hidden state at which the token that is read recovers half of the difference."""
        return half_way if way == RESIDUAL else highest

    @property
    def copies(self) -> int:
        """A copy for each role, or head."""
        return self.shape[1]

    @property
    def passes(self) -> float:
        """Both texts, and less than half of the layers for each part that is taken over."""
        return 2 + int(np.prod(self.shape)) / 3

    def usable(self, item: ReadItem) -> None:
        """An item needs a changed text with as many pieces, and the blank in the same place."""
        if not item.changed:
            raise Unusable("it has no changed text; give a word its counterpart, as in *key/keys*.")
        if len(item.changed) != len(item.ids):
            raise Unusable(
                f"its text has {len(item.ids)} pieces and the changed one {len(item.changed)}; take a counterpart of as many "
                f"pieces."
            )
        if item.changed == item.ids:
            raise Unusable("its changed text reads the same.")
        if item.changed[item.place] != item.ids[item.place]:
            raise Unusable("the token that is read is itself changed.")

    def measure(self, group: Group) -> Measured:
        """Every part in turn."""
        own, changed = own_states(self.model, group), changed_states(self.model, group)
        words, whole = self.before(own, group)
        before = self.target.differences(changed[-1][group.rows, group.places], words)
        after = {RESIDUAL: self._residual, HEADS_OF: self._heads, MLP: self._mlp}[self.way](group, words, own, changed)
        return Measured(words, before, (after - before).permute(2, 0, 1), sizes=whole - before)

    def _residual(self, group: Group, words: torch.Tensor, own: list[torch.Tensor], changed: list[torch.Tensor]) -> torch.Tensor:
        vectors = []
        for state, (mine, other) in enumerate(zip(own, changed, strict=True)):
            patched = torch.where(_roles(group)[..., None], mine, other)  # [roles, n, tokens, hidden]
            vectors.append(self._read(state, patched, group))
        return self.target.differences(torch.stack(vectors), words)

    def _heads(self, group: Group, words: torch.Tensor, own: list[torch.Tensor], changed: list[torch.Tensor]) -> torch.Tensor:
        contexts = [layer.heads(hidden).context() for layer, hidden in zip(self.model.layers, own[:-1], strict=True)]
        return without_heads(self, group, words, changed, contexts)

    def _mlp(self, group: Group, words: torch.Tensor, own: list[torch.Tensor], changed: list[torch.Tensor]) -> torch.Tensor:
        where, vectors = _roles(group)[..., None], []
        for layer, (mine, other) in enumerate(zip(own[:-1], changed[:-1], strict=True)):
            added: list[torch.Tensor] = []

            def keep(mine: torch.Tensor, added: list[torch.Tensor] = added) -> torch.Tensor:
                added.append(mine)
                return mine

            self.model.layers[layer].with_feed_forward(mine, keep)

            def put(theirs: torch.Tensor, added: list[torch.Tensor] = added) -> torch.Tensor:
                return torch.where(where, added[0], theirs.unflatten(0, where.shape[:2])).flatten(0, 1)

            output = self.model.layers[layer].with_feed_forward(other.repeat(len(ROLES), 1, 1), put)
            vectors.append(self._read(layer + 1, output.unflatten(0, where.shape[:2]), group))
        return self.target.differences(torch.stack(vectors), words)

    def _read(self, layer: int, hidden: torch.Tensor, group: Group) -> torch.Tensor:
        """The last vectors that are read, [roles, n, hidden], from what a layer reads: [roles, n, tokens, hidden]."""
        vectors = last_vectors(self.model, layer, hidden.flatten(0, 1), group.places.repeat(len(hidden)))
        return vectors.unflatten(0, hidden.shape[:2])


def half_way(means: np.ndarray) -> Place:
    """The first hidden state, from means [hidden states, roles], at which the token that is read recovers half."""
    return int(np.argmax(means[:, -1] >= 0.5)) or len(means) - 1, len(ROLES) - 1


def _roles(group: Group) -> torch.Tensor:
    """[roles, n, tokens] bool: which tokens have each of ROLES."""
    own, other = (torch.tensor([getattr(one, name) for one in group.items]) for name in ("ids", "changed"))
    differs, read = own != other, torch.zeros_like(own, dtype=torch.bool)
    read[group.rows, group.places] = True
    return torch.stack([differs, ~differs & ~read, read])
