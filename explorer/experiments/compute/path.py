"""Path patching in many items: what one head writes and another one reads of the difference between two texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.experiments.compute.patching import Patching
from explorer.experiments.compute.question import Group
from explorer.experiments.compute.targets import WORD
from explorer.techniques.targets import batches
from explorer.text import limits

WAY = re.compile(r"(query|key|value)(?: (\d{1,3})\.(\d{1,3}))?")


@dataclass(frozen=True)
class Paths(Patching):
    """`Patching` of the path from every head's output into the "query", "key" or "value" of later heads, [layers, heads].

    Path patching (Wang et al. 2023, section 3.1), in the run of the changed text. First a head's output is that of the
    item's own run, and every other head's output stays what it is; feed-forward blocks and norms are computed again. Then the
    later heads get the queries (keys, values) that this leads to, and everything after them is computed. All later
    heads receive, or the one that the way names: "query 5.11" is layer 5, head 11. A head with no later receiver brings back 0.
    """

    name = "path"
    ways: ClassVar[tuple[str, ...]] = ("query", "key", "value")
    targets = (WORD,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (receiver := self.receiver) is not None:
            limits.head_indices([receiver], self.model.capabilities.layers, self.model.capabilities.heads)

    @classmethod
    def check_way(cls, way: str) -> str:
        """Also a part with the receiver behind it."""
        if isinstance(way, str) and WAY.fullmatch(way):
            return way
        if isinstance(way, str) and way:
            raise InputError('How must be "query", "key" or "value", perhaps with the head that receives it: "query 5.11".')
        return super().check_way(way)

    @property
    def receiver(self) -> tuple[int, int] | None:
        """The layer and head that receive, from 1; None for all later ones."""
        found = WAY.fullmatch(self.way)
        return (int(found[2]), int(found[3])) if found and found[2] else None

    @property
    def passes(self) -> float:
        """Both texts, and for each head two runs of half of the layers."""
        return 2 + int(np.prod(self.shape))

    def vectors(
        self, group: Group, own: list[torch.Tensor], changed: list[torch.Tensor], chosen: np.ndarray | None = None
    ) -> torch.Tensor:
        """The last vectors that are read with each path taken over, [layers, heads, n, hidden]."""
        layers, rows = self.model.layers, group.rows
        last = self.receiver[0] - 1 if self.receiver else len(layers) - 1  # the last layer that receives
        contexts = [layer.heads(hidden).context() for layer, hidden in zip(layers, changed[:-1], strict=True)]
        found = changed[-1][rows, group.places].repeat(*self.shape, 1, 1)
        for sender in range(last):
            context = layers[sender].heads(own[sender]).context()
            off = torch.eye(self.shape[1], dtype=torch.bool)[:, None, :, None, None]  # [heads, 1, heads, 1, 1]
            for batch in batches(self.shape[1], context.shape[0] * context.shape[2]):
                sent = torch.where(off[batch], context, contexts[sender]).flatten(0, 1)  # [copies · n, heads, tokens, head_size]
                copies = batch.stop - batch.start
                read = layers[sender].after_heads(sent, changed[sender].repeat(copies, 1, 1))
                after = self._received(sender + 1, read, changed, contexts)
                vectors = after[torch.arange(len(after)), group.places.repeat(copies)]
                found[sender, batch] = vectors.unflatten(0, (copies, len(rows)))
        return found

    def _received(
        self, first: int, read: torch.Tensor, changed: Sequence[torch.Tensor], contexts: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        """The last hidden state, from what layer `first` reads behind the sender: both [copies · n, tokens, hidden]."""
        copies = len(read) // len(changed[first])
        hidden = changed[first].repeat(copies, 1, 1)
        for at, layer in enumerate(self.model.layers[first:], first):
            receives = [self.receiver is None or self.receiver == (at + 1, head + 1) for head in range(self.shape[1])]
            if any(receives):
                sent = getattr(layer.heads(read), self.way.split()[0])
                hidden = attending.answer_with(partial(self._attend, sent, torch.tensor(receives)), partial(layer, hidden))
            else:
                hidden = layer(hidden)
            read = layer.after_heads(contexts[at].repeat(copies, 1, 1, 1), read)
        return hidden

    def _attend(self, sent: torch.Tensor, receives: torch.Tensor, heads: Heads) -> torch.Tensor:
        """The contexts with the queries, keys or values `sent` to some heads."""
        part = self.way.split()[0]
        given = torch.where(receives[:, None, None], sent, getattr(heads, part))
        return replace(heads, **{part: given}).context()
