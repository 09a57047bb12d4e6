"""Interchange patching in many items: what of the item's own run, put into that of its changed text, brings its answer back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import numpy as np

from explorer.bert import attending
from explorer.core.engine import torch
from explorer.experiments.compute.question import (
    HEADS,
    LAYERS,
    STATES,
    Axis,
    Batch,
    Measured,
    Question,
    ReadItem,
    Unusable,
    round_off,
)
from explorer.experiments.compute.summary import Place
from explorer.experiments.compute.targets import WORD
from explorer.techniques.edits import attend_with, messages

RESIDUAL, HEADS_OF, MLP = "residual", "heads", "mlp"
ROLES = Axis("tokens", ("changed words", "other words", "token read"))
PAIRS = 64  # of words drawn at random for each item: enough for a mean share, few enough to cost little beside the runs
COUNTERPART = (
    "Items need a marked word with a counterpart of the same number of pieces, as in *The \\*key/keys\\* to the drawers*."
)


class Patching(Question):
    """The logit difference of the changed text with a part of the item's own run in it, less that without.

    The sizes are the whole difference between the item and its changed text. Taken over for all tokens of a role together: the
    hidden state, [hidden states, roles], what the feed-forward block adds, [layers, roles], or a head's context before W_O at
    every token, [layers, heads]. In any model the last state of the token that is read brings back all: hence the null, in which
    each other pair of words is the way round in which the item is ahead, as in the items that are asked.
    """

    name, menu = "patching", "What brings the answer back? (patching)"
    unit, beside, null, each = "share recovered", "a random place", "other pairs of words", ("changed text", "with {}")
    how = "Patched in"
    ways: ClassVar[Mapping[str, str]] = {
        RESIDUAL: "the hidden states",
        HEADS_OF: "the output of heads",
        MLP: "the feed-forward output",
    }
    help = (
        "The picture shows the share of the logit difference that one part of the item's own run brings back in the run of the "
        f"changed text: 0 is the changed text, 1 the item. {COUNTERPART} *Changed words* are the tokens where the texts differ, "
        "*token read* is the blank. Patching shows where the difference between both texts is carried, and nothing that they "
        f"share (Geiger et al. 2021; Zhang & Nanda 2024). The null is the share for {PAIRS} other pairs of words per item. "
        "Next sentences and labels have no other pairs, so their test is against 0, which any place that carries something "
        "fails in any model."
    )
    finding = (
        "{Place}, selected on {on}, brings back {share} ({by_share}) of the difference in the other {other}; {beside} "
        "{random_share}{doubt}."
    )
    adds_before, needs_marks = True, True
    passes, copies = 1 / 3, 1

    def set_up(self) -> None:
        self.has_nulls = bool(self.null) and self.target.name == WORD  # where there are other pairs of words

    @classmethod
    def axes(cls, way: str) -> tuple[Axis, ...]:
        """Hidden states or layers, and roles or heads."""
        return {RESIDUAL: (STATES, ROLES), MLP: (LAYERS, ROLES)}.get(way, (LAYERS, HEADS))

    @classmethod
    def pick(cls, way: str, means: np.ndarray) -> Place:
        """The highest share, or the first hidden state at which the token that is read recovers half of the difference."""
        if way != RESIDUAL:
            return super().pick(way, means)
        return int(np.argmax(means[:, -1] >= 0.5)) or len(means) - 1, len(ROLES.labels) - 1

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

    def measure(self, batch: Batch) -> Measured:
        vectors, ends = self.vectors(batch), self.ends(batch)
        before, whole = batch.differences(ends)
        sizes, values = whole - before, (batch.differences(vectors) - before).permute(2, 0, 1)
        if not self.has_nulls:
            return Measured(values, sizes=sizes, before=before)
        asked, weights = self.random_pairs(batch, ends)
        shares = ((self.target.differences(vectors, asked) - self.target.differences(ends[0], asked)) * weights).sum(-1)
        nulls = shares.permute(2, 0, 1) * sizes[:, None, None]  # of pairs of words drawn at random
        return Measured(values, round_off(values, nulls), sizes, before=before)

    def ends(self, batch: Batch) -> torch.Tensor:
        """The last vectors that are read in the changed and in the item's own run, [2, n, hidden]."""
        return torch.stack([batch.read(states[-1]) for states in (batch.changed, batch.states)])

    def vectors(self, batch: Batch, chosen: np.ndarray | None = None) -> torch.Tensor:
        """The last vectors that are read with each part taken over, [*places, n, hidden]; NaN where not `chosen` [*places]."""
        own, changed = batch.states, batch.changed
        if self.way not in (RESIDUAL, MLP):
            return batch.with_contexts(changed, batch.contexts(own), chosen)
        found = torch.full((*self.shape, len(batch.items), own[0].shape[-1]), torch.nan)
        roles = roles_of(batch)[..., None]
        for row in range(len(found)) if chosen is None else np.flatnonzero(chosen.any(1)).tolist():
            if self.way == RESIDUAL:
                found[row] = batch.finish(row, torch.where(roles, own[row], changed[row]))
            else:
                found[row] = batch.finish(row + 1, self._fed(row, own[row], changed[row], roles))
        return found

    def _fed(self, layer: int, mine: torch.Tensor, other: torch.Tensor, roles: torch.Tensor) -> torch.Tensor:
        """What a layer makes of `other` when its feed-forward block adds what it adds to `mine`: [roles, n, tokens, hidden]."""
        added: list[torch.Tensor] = []

        def put(theirs: torch.Tensor) -> torch.Tensor:
            return torch.where(roles, added[0], theirs.unflatten(0, roles.shape[:2])).flatten(0, 1)

        path, other = self.model.layers[layer].family.out_of_neurons, other.repeat(len(roles), 1, 1)
        self.model.layers[layer].with_outputs(mine, {path: added.append})
        return self.model.layers[layer].with_outputs(other, {path: put}).unflatten(0, roles.shape[:2])

    def random_pairs(self, batch: Batch, ends: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Pairs of words drawn at random, [n, pairs, 2], and what each counts in the share that comes back, [n, pairs]."""
        words = self.target.whole_words
        pairs = min(PAIRS, len(words) // 2)
        drawn = [self.random(item).permutation(words)[: 2 * pairs] for item in batch.items]
        asked = torch.from_numpy(np.stack(drawn).reshape(len(drawn), pairs, 2))
        before, whole = self.target.differences(ends, asked)  # [n, pairs] each
        sizes = whole - before
        return asked, sizes.sign() / sizes.abs().sum(-1, keepdim=True).clamp_min(torch.finfo(sizes.dtype).tiny)


def roles_of(batch: Batch) -> torch.Tensor:
    """[roles, n, tokens] bool: which tokens have each of ROLES."""
    own, other = (torch.tensor([getattr(item, name) for item in batch.items]) for name in ("ids", "changed"))
    differs, read = own != other, torch.zeros_like(own, dtype=torch.bool)
    read[batch.rows, batch.places] = True
    return torch.stack([differs, ~differs & ~read, read])


class Paths(Patching):
    """`Patching` of the path from every head's output into the "query", "key" or "value" of later heads, [layers, heads].

    As by Wang et al. 2023, section 3.1: in the first of two runs feed-forward blocks and norms are computed again, in the second
    everything after the receivers. A head of the last layer has no later one, and brings back 0.
    """

    name, menu = "path", "Which head sends to which? (path patching)"
    each = "changed text", "with the path from {}"
    how = "Read as"
    ways: ClassVar[Mapping[str, str]] = {"query": "queries", "key": "keys", "value": "values"}
    help = (
        f"{COUNTERPART} Path patching (Wang et al. 2023) copies one head's output from the item's own run into that of the "
        "changed text, but only as far as the queries, keys or values of later heads read it. Every other head keeps its output. "
        "0 is the changed text, 1 the item. The null is the same path for other pairs of words, as in *patching*."
    )
    finding = (
        "{Place}, selected on {on}, brings back {share} ({by_share}) of the difference in the other {other} through {receiver}"
        "{doubt}; {beside} {random_share}."
    )
    targets, passes = (WORD,), 1

    def vectors(self, batch: Batch, chosen: np.ndarray | None = None) -> torch.Tensor:
        """The last vectors that are read with each path taken over, [layers, heads, n, hidden]."""
        layers, heads = self.model.layers, self.shape[1]
        mine, theirs = batch.contexts(batch.states), batch.contexts(batch.changed)
        found = batch.read(batch.changed[-1]).repeat(*self.shape, 1, 1)
        off = torch.eye(heads, dtype=torch.bool)[:, None, :, None, None]
        for sender in range(len(layers) - 1):
            sent = torch.where(off, mine[sender], theirs[sender]).flatten(0, 1)  # [heads · n, heads, tokens, head_size]
            below, hidden = (state.repeat(heads, 1, 1) for state in batch.changed[sender : sender + 2])
            first = messages(layers, sender, sent, below, lambda at: theirs[at].repeat(heads, 1, 1, 1))
            for layer, (_, read) in zip(layers[sender + 1 :], first, strict=False):
                attend = partial(attend_with, layer.heads(read), (self.way,), [*range(heads)])
                hidden = attending.answer_with(attend, partial(layer, hidden))
            found[sender] = batch.read(hidden.unflatten(0, (heads, -1)))
        return found
