"""Every head switched off separately: what becomes of the logit of one word less that of another.

Inputs of one length are read together, once. Their hidden states are kept while every head is taken away in turn: each run
restarts from the layer of the head, and is finished for the token that is read only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from explorer.bert.network import Network
from explorer.core.engine import torch
from explorer.experiments.compute.question import Group, Measured, Part, Question, ReadItem, own_states, states_of
from explorer.experiments.compute.reading import grouped
from explorer.experiments.compute.summary import Place, lowest
from explorer.techniques.targets import batches

HEADS_OFF = "heads_off"
ZERO, MEAN, RESAMPLE = "zero", "mean", "resample"


@dataclass(frozen=True)
class HeadsOff(Question):
    """The logit difference without each head less that with it, [layers, heads]: negative where the head helps the word.

    Without a head means that its context, the weighted sum of values before W_O, is replaced at every token, each head separately
    (Michel et al. 2019 mask there):

    - "zero": by zeros,
    - "mean": by its mean over all tokens of all items, special tokens too,
    - "resample": by that of another item, drawn at random: [CLS], the token that is read and the last one take the place of each
      other, and tokens between them that of the token at the nearest relative position there (Chan et al. 2022 resample whole
      activations so).
    """

    name = HEADS_OFF
    ways: ClassVar[tuple[str, ...]] = (ZERO, MEAN, RESAMPLE)
    _means: list[torch.Tensor] = field(default_factory=list, init=False, repr=False, compare=False)
    _donors: dict[int, ReadItem] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def copies(self) -> int:
        """A copy for each head."""
        return self.model.capabilities.heads

    @property
    def passes(self) -> float:
        """A head alone needs, on average, less than half of the layers."""
        return 1 + int(np.prod(self.shape)) / 3

    @classmethod
    def pick(cls, way: str) -> Callable[[np.ndarray], Place]:
        """The head that helps the word most."""
        return lowest

    def prepare(self, items: Sequence[ReadItem]) -> Generator[Part, None, None]:
        """The mean contexts, or which item gives to which."""
        if self.way == RESAMPLE:
            listed = sorted(items, key=lambda item: item.number)
            given = donors(len(items), self.seed)
            self._donors.update((one.number, listed[donor]) for one, donor in zip(listed, given, strict=True))
        if self.way == MEAN:
            self._means[:] = yield from self._mean_contexts(items)

    def measure(self, group: Group) -> Measured:
        """Every head taken away."""
        states = own_states(self.model, group)
        words, before = self.before(states, group)
        after = without_heads(self, group, words, states, self._instead(group))
        return Measured(words, before, (after - before).permute(2, 0, 1))

    def _instead(self, group: Group) -> list[torch.Tensor]:
        """What replaces the contexts of each layer, over [n, heads, tokens, head_size]."""
        if self.way == RESAMPLE:
            return _given_by(self.model, group, [self._donors[item.number] for item in group.items])
        if self.way == MEAN:
            return [mean[None, :, None] for mean in self._means]
        return [torch.zeros(())] * self.shape[0]

    def _mean_contexts(self, items: Sequence[ReadItem]) -> Generator[Part, None, list[torch.Tensor]]:
        """The mean context of every head over all tokens of items, [heads, head_size] by layer; yields empty parts."""
        nothing = np.empty((0, self.width), np.float32)
        sums: list[torch.Tensor] = [torch.zeros(()) for _ in self.model.layers]
        tokens = 0
        for batch in grouped([len(item.ids) for item in items], 0, 1):
            states = own_states(self.model, Group.of(items[batch]))
            for layer, hidden in enumerate(states[:-1]):
                sums[layer] = sums[layer] + self.model.layers[layer].heads(hidden).context().double().sum((0, 2))
            tokens += states[0].shape[0] * states[0].shape[1]
            yield 0.0, nothing
        return [(total / tokens).float() for total in sums]


def without_heads(
    question: Question, group: Group, words: torch.Tensor, states: Sequence[torch.Tensor], instead: Sequence[torch.Tensor]
) -> torch.Tensor:
    """The logit differences [layers, heads, n] when each head's context alone is replaced by that of `instead`, by layer."""
    return question.target.differences(vectors_without(question.model, group, states, instead), words)


def vectors_without(
    model: Network,
    group: Group,
    states: Sequence[torch.Tensor],
    instead: Sequence[torch.Tensor],
    chosen: np.ndarray | None = None,
) -> torch.Tensor:
    """The last hidden states that are read, [layers, heads, n, hidden], when each head's context alone is replaced so.

    Only for the `chosen` heads, [layers, heads] bool, if they are given; the others are NaN.
    """
    has = model.capabilities
    chosen = np.ones((has.layers, has.heads), dtype=bool) if chosen is None else chosen
    found = torch.full((*chosen.shape, len(group.items), has.hidden_size), torch.nan)
    for layer, heads in enumerate(chosen):
        if heads.any():
            at = np.flatnonzero(heads).tolist()
            found[layer, at] = _without(model, group, layer, states[layer], instead[layer], at)
    return found


def _without(
    model: Network, group: Group, layer: int, hidden: torch.Tensor, instead: torch.Tensor, heads: list[int]
) -> torch.Tensor:
    """The last hidden states that are read, [heads, n, hidden], without each of some heads of a layer, for what it reads."""
    last, rows = layer == model.capabilities.layers - 1, group.rows
    given = model.layers[layer].heads(hidden)
    if last:  # above its attention only the token that is read matters
        context, hidden = given.context_at(group.places), hidden[rows, group.places][:, None]
        instead = instead[rows, :, group.places][:, :, None] if instead.dim() and instead.shape[-2] > 1 else instead
    else:
        context = given.context()
    off = torch.eye(context.shape[1], dtype=torch.bool)[heads][:, None, :, None, None]  # [heads, 1, heads, 1, 1]: one off in each
    found = []
    for batch in batches(len(heads), len(rows) * hidden.shape[1]):
        copies = batch.stop - batch.start
        changed = torch.where(off[batch], instead, context).flatten(0, 1)  # [copies · n, heads, tokens, head_size]
        output = model.layers[layer].after_heads(changed, hidden.repeat(copies, 1, 1))
        vectors = output[:, 0] if last else last_vectors(model, layer + 1, output, group.places.repeat(copies))
        found.append(vectors.unflatten(0, (copies, len(rows))))
    return torch.cat(found)


def last_vectors(model: Network, layer: int, hidden: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The last hidden state [batch, hidden] of the token at `places` [batch] of each input; `hidden` is what `layer` reads."""
    if layer == len(model.layers):
        return hidden[torch.arange(len(places)), places]
    for below in model.layers[layer:-1]:
        hidden = below(hidden)
    final = model.layers[-1]
    context, own = final.heads(hidden).context_at(places), hidden[torch.arange(len(places)), places][:, None]
    return final.after_heads(context, own)[:, 0]


# ---- What another item gives.


def donors(count: int, seed: int) -> np.ndarray:
    """For each item another one, at random: each is taken once."""
    order = np.random.default_rng(seed).permutation(count)
    found = np.empty(count, dtype=np.int64)
    found[order] = np.roll(order, -1)
    return found


def _given_by(model: Network, group: Group, others: Sequence[ReadItem]) -> list[torch.Tensor]:
    """The context that other items give in the place of a group's, by layer: [n, heads, tokens, head_size]."""
    states, real = states_of(model, [(other.ids, other.segments) for other in others])
    places = torch.stack([_counterparts(own, other) for own, other in zip(group.items, others, strict=True)])
    found = []
    for layer, hidden in enumerate(states[:-1]):
        heads = model.layers[layer].heads(hidden, None if bool(real.all()) else real)
        rows = group.rows[:, None]
        found.append(heads.context().transpose(1, 2)[rows, places].transpose(1, 2))
    return found


def _counterparts(own: ReadItem, other: ReadItem) -> torch.Tensor:
    """For each token of an item the one of another: first, read and last ones by each other, the rest in proportion."""
    ends, others = ([0, reading.place, len(reading.ids) - 1] for reading in (own, other))
    if not own.place or not other.place:  # the first token is read
        ends, others = [ends[0], ends[2]], [others[0], others[2]]
    return torch.from_numpy(np.rint(np.interp(np.arange(len(own.ids)), ends, others)).astype(np.int64))
