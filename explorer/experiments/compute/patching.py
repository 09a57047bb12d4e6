"""Interchange patching in many items: what of the item's own run, put into that of its changed text, brings its answer back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from explorer.core.engine import torch
from explorer.experiments.compute.heads_off import last_vectors, vectors_without
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
from explorer.experiments.compute.targets import WORD

RESIDUAL, HEADS_OF, MLP = "residual", "heads", "mlp"
ROLES = ("changed words", "other words", "token read")
ROUNDING = 1e-4  # logits: what two ways of computing the same differ by; their sign would say nothing
PAIRS = 64  # of words drawn at random for each item: enough for a mean share, few enough to cost little beside the runs


def round_off(values: torch.Tensor, nulls: torch.Tensor) -> torch.Tensor:
    """The nulls, but equal to the values where both differ by rounding only."""
    return torch.where((values - nulls).abs() < ROUNDING, values, nulls)


@dataclass(frozen=True)
class Patching(Question):
    """The logit difference of the changed text with a part of the item's own run in it, less that without.

    Interchange interventions (Geiger et al. 2021), or activation patching (Zhang & Nanda 2024). The sizes are the whole
    difference between the item and its changed text, so that the mean is the share that is recovered: 0 is the changed text,
    1 the item. Taken over for all tokens of a role together (those where the texts differ, the one that is
    read, the rest):

    - "residual": the hidden state, [hidden states, roles],
    - "mlp": what the feed-forward block adds, [layers, roles],
    - "heads": a head's context before W_O at every token, [layers, heads].

    A place that brings something back is not a finding yet: in any model the last state of the token that is read brings back
    all. So the null is what the same place brings back of the difference that the texts make to PAIRS random other pairs of
    words of the vocabulary for each item: sum of what comes back over sum of the differences, each pair the way round in
    which the item is ahead, as in the items that are asked. Two classes of a head with no others have no such pairs, and so
    no null.
    """

    name = "patching"
    ways: ClassVar[tuple[str, ...]] = (RESIDUAL, HEADS_OF, MLP)
    needs_marks = True

    @property
    def has_nulls(self) -> bool:
        """Where there are other pairs of words."""
        return self.target_name == WORD

    @property
    def shape(self) -> tuple[int, ...]:
        """Hidden states or layers, and roles or heads."""
        has = self.model.capabilities
        return {RESIDUAL: (has.layers + 1, len(ROLES)), MLP: (has.layers, len(ROLES))}.get(self.way, super().shape)

    @classmethod
    def axes(cls, way: str, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Layers and heads from 1; with roles, layers or hidden states."""
        if way not in (RESIDUAL, MLP):
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
                f"its text has {len(item.ids)} pieces and the changed one {len(item.changed)}; take a counterpart of the same "
                f"number of pieces."
            )
        if item.changed == item.ids:
            raise Unusable("its changed text reads the same.")
        if item.changed[item.place] != item.ids[item.place]:
            raise Unusable("the token that is read is itself changed.")

    def measure(self, group: Group) -> Measured:
        """Every part in turn."""
        own, changed = own_states(self.model, group), changed_states(self.model, group)
        words, whole = self.before(own, group)
        ends = torch.stack([states[-1][group.rows, group.places] for states in (changed, own)])
        vectors = self.vectors(group, own, changed)
        before = self.target.differences(ends[0], words)
        sizes, values = whole - before, (self.target.differences(vectors, words) - before).permute(2, 0, 1)
        if not self.has_nulls:
            return Measured(words, before, values, sizes=sizes)
        nulls = self._of_random_pairs(group, vectors, ends).permute(2, 0, 1) * sizes[:, None, None]
        return Measured(words, before, values, round_off(values, nulls), sizes)

    def vectors(
        self, group: Group, own: list[torch.Tensor], changed: list[torch.Tensor], chosen: np.ndarray | None = None
    ) -> torch.Tensor:
        """The last vectors that are read with each part taken over, [*places, n, hidden]; NaN where not `chosen` [*places]."""
        if self.way not in (RESIDUAL, MLP):
            contexts = [layer.heads(hidden).context() for layer, hidden in zip(self.model.layers, own[:-1], strict=True)]
            return vectors_without(self.model, group, changed, contexts, chosen)
        rows = range(self.shape[0]) if chosen is None else np.flatnonzero(chosen.any(1)).tolist()
        found = torch.full((*self.shape, len(group.items), own[0].shape[-1]), torch.nan)
        for row in rows:
            found[row] = (self._residual if self.way == RESIDUAL else self._mlp)(group, row, own[row], changed[row])
        return found

    def _of_random_pairs(self, group: Group, vectors: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """The share that comes back for pairs of words drawn at random, [rows, columns, n].

        From the vectors that are read with a part taken over, [rows, columns, n, hidden], and those of the changed and of the
        item's own run, [2, n, hidden].
        """
        words = self.target.whole_words
        pairs = min(PAIRS, len(words) // 2)
        drawn = [self.random(item).permutation(words)[: 2 * pairs] for item in group.items]
        asked = torch.from_numpy(np.stack(drawn).reshape(len(drawn), pairs, 2))
        before, whole = self.target.differences(ends, asked)  # [n, pairs] each
        back, sizes = self.target.differences(vectors, asked) - before, whole - before
        return (back * sizes.sign()).sum(-1) / sizes.abs().sum(-1).clamp_min(torch.finfo(sizes.dtype).tiny)

    def _residual(self, group: Group, state: int, mine: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        patched = torch.where(roles_of(group)[..., None], mine, other)  # [roles, n, tokens, hidden]
        return self._read(state, patched, group)

    def _mlp(self, group: Group, layer: int, mine: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        where, added = roles_of(group)[..., None], list[torch.Tensor]()

        def keep(mine: torch.Tensor) -> torch.Tensor:
            added.append(mine)
            return mine

        def put(theirs: torch.Tensor) -> torch.Tensor:
            return torch.where(where, added[0], theirs.unflatten(0, where.shape[:2])).flatten(0, 1)

        self.model.layers[layer].with_feed_forward(mine, keep)
        output = self.model.layers[layer].with_feed_forward(other.repeat(len(ROLES), 1, 1), put)
        return self._read(layer + 1, output.unflatten(0, where.shape[:2]), group)

    def _read(self, layer: int, hidden: torch.Tensor, group: Group) -> torch.Tensor:
        """The last vectors that are read, [roles, n, hidden], from what a layer reads: [roles, n, tokens, hidden]."""
        vectors = last_vectors(self.model, layer, hidden.flatten(0, 1), group.places.repeat(len(hidden)))
        return vectors.unflatten(0, hidden.shape[:2])


def half_way(means: np.ndarray) -> Place:
    """The first hidden state, from means [hidden states, roles], at which the token that is read recovers half."""
    return int(np.argmax(means[:, -1] >= 0.5)) or len(means) - 1, len(ROLES) - 1


def roles_of(group: Group) -> torch.Tensor:
    """[roles, n, tokens] bool: which tokens have each of ROLES."""
    own, other = (torch.tensor([getattr(item, name) for item in group.items]) for name in ("ids", "changed"))
    differs, read = own != other, torch.zeros_like(own, dtype=torch.bool)
    read[group.rows, group.places] = True
    return torch.stack([differs, ~differs & ~read, read])
