"""The effect of heads and hidden states, found by ablation and patching: without hooks, and without changing weights.

Both restart from the stored hidden state of the layer where something changes, and run many changed inputs as one batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import ref

import numpy as np

from explorer.bert.attending import Heads
from explorer.bert.network import Network
from explorer.bert.trace import Reading as Pass
from explorer.bert.trace import Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.techniques.targets import Reading, Target, batches, read_each

Head = tuple[int, int]
"""(layer, head), zero-based."""

Cut = tuple[int, int, int, "int | None"]
"""(layer, query, key, head), zero-based: an attention weight set to zero; head None for all heads of the layer."""

_changed: OnceCache[Hashable, torch.Tensor] = OnceCache(2)  # one change is read by the picture, the sentence and the answers


class Edit(ABC):
    """A change at one place of a run; `first` is the lowest hidden state that differs, or whose layer reads something else."""

    first: int

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What distinguishes this edit from others of the same run, without holding that run in memory."""

    @abstractmethod
    def put(self, states: torch.Tensor, state: int) -> None:
        """Change one of the hidden states [layers + 1, tokens, hidden] in place, if it is the edit's."""

    def give(self, layer: int, heads: Heads) -> Heads:
        """The queries, keys and values of a layer; `heads` unless the edit reaches them."""
        return heads


@inference_mode
def vectors_without_heads(
    model: Network,
    states: Sequence[torch.Tensor] | torch.Tensor,
    places: torch.Tensor,
    instead: Sequence[torch.Tensor] = (),
    chosen: np.ndarray | None = None,
) -> Generator[float, None, torch.Tensor]:
    """Replace the output of one head at a time in n inputs of one length; yields the share done, 0 to 1, after each layer.

    Returns [layers, heads, n, hidden] float32: the last hidden states of the tokens at `places` [n] when that head's slice of the
    concatenated context, before W_O, is zero (Michel et al. 2019 mask heads at the same place), or what `instead` has for its
    layer, which is broadcast over [n, heads, tokens, head_size]. `states` are the hidden states of the unchanged run, [n, tokens,
    hidden] each. Only for the `chosen` heads, [layers, heads] bool, if they are given; the others are NaN.
    """
    layers, heads = model.capabilities.layers, model.capabilities.heads
    chosen = np.ones((layers, heads), dtype=bool) if chosen is None else chosen
    found = torch.full((layers, heads, len(places), model.capabilities.hidden_size), torch.nan)
    for layer in range(layers):
        at, hidden = np.flatnonzero(chosen[layer]), states[layer]
        if len(at):
            context = model.layers[layer].heads(hidden).context()
            off = torch.eye(heads, dtype=torch.bool)[at][:, None, :, None, None]  # one off in each row
            for batch in batches(len(at), hidden[..., 0].numel()):
                changed = torch.where(off[batch], instead[layer] if instead else 0, context)
                output = model.layers[layer].after_heads(changed.flatten(0, 1), hidden.repeat(len(changed), 1, 1))
                last = last_vectors(model, layer + 1, output, places.repeat(len(changed)))
                found[layer, at[batch]] = last.unflatten(0, changed.shape[:2])
        yield (layer + 1) / layers
    return found


def head_readings(trace: Trace, target: Target) -> Reading:
    """The target with one head at a time zero, [layers, heads] each, kept with the trace.

    The token's vectors without each head are computed once for all words that may be there.
    """
    return trace.once(
        ("head readings", target), lambda: read_each(trace.model, target, finished(prepare_head_effects(trace, target))[:, :, 0])
    )


def knows_head_effects(trace: Trace, target: Target) -> bool:
    """Whether `head_readings` has nothing to compute but what the words' head makes of it."""
    return trace.knows(("without heads", target.position))


def prepare_head_effects(trace: Trace, target: Target) -> Generator[float, None, torch.Tensor]:
    """Compute and cache what `head_readings` needs; yields the share done, 0 to 1. Closed before the end, it caches nothing."""
    steps = vectors_without_heads(trace.model, trace.states[:, None], torch.tensor([target.position]))
    return (yield from trace.once_in_steps(("without heads", target.position), steps))


def last_vectors(model: Network, layer: int, hidden: torch.Tensor, places: torch.Tensor | int) -> torch.Tensor:
    """The last hidden state [batch, hidden] of one token of each input, from the input of `layer` [batch, tokens, hidden].

    `places` are these tokens, [batch] or the same one for all; in the last layer nothing else is computed.
    """
    rows, at = torch.arange(len(hidden)), torch.as_tensor(places).expand(len(hidden))
    if layer == len(model.layers):
        return hidden[rows, at]
    for below in model.layers[layer:-1]:
        hidden = below(hidden)
    final = model.layers[-1]
    return final.after_heads(final.heads(hidden).context_at(at), hidden[rows, at][:, None])[:, 0]


@dataclass(frozen=True, eq=False)
class Run:
    """An input with heads `off` (set to zero), attention weights that are `cuts`, or `edits` put in; or with none of these.

    Cuts are zero after the softmax; the rest of their row is not renormalized, so the query gets that much less (attention
    knockout, as in Geva et al. 2023, section 3, who block the score before the softmax). With `ends`, the last vectors of these
    tokens alone are computed; the others are those of the unchanged run.
    """

    trace: Trace
    off: Collection[Head] = ()
    cuts: Collection[Cut] = ()
    edits: Collection[Edit] = ()
    ends: Collection[int] | None = None

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What distinguishes the run from others, without holding its input in memory; `ends` do not count."""
        edits = tuple(edit.key for edit in self.edits)
        return ref(self.trace.reading), frozenset(self.off), frozenset(self.cuts), edits

    @cached_property
    def first(self) -> int:
        """The lowest layer or hidden state with a change; the last hidden state without any."""
        changed = [layer for layer, *_ in self.off] + [layer for layer, *_ in self.cuts] + [edit.first for edit in self.edits]
        return min(changed, default=len(self.trace.states) - 1)

    @property
    def is_changed(self) -> bool:
        return bool(self.off or self.cuts or self.edits)

    @cached_property
    def states(self) -> torch.Tensor:
        """All hidden states [layers + 1, tokens, hidden]; the stored ones if nothing is changed. Cached."""
        if not self.is_changed:
            return self.trace.states
        return self._compute() if self.ends is not None else _changed.get(self.key, self._compute)

    def heads(self, layer: int, states: torch.Tensor | None = None) -> Heads:
        """The queries, keys and values of a layer's heads, as a batch of one; of `states` while these are computed."""
        hidden = (self.states if states is None else states)[layer]
        same = not self.is_changed or hidden.equal(self.trace.states[layer])
        heads = self.trace.heads(layer) if same else self.trace.model.layers[layer].heads(hidden[None])
        for edit in self.edits:
            heads = edit.give(layer, heads)
        return heads

    def context(self, layer: int, rows: Sequence[int], states: torch.Tensor | None = None) -> torch.Tensor:
        """The outputs of a layer's heads for some tokens: [1, heads, rows, head_size]."""
        given = self.heads(layer, states)
        context, cuts = given.context(rows), [cut for cut in self.cuts if cut[0] == layer]
        for query in {query for _, query, _, _ in cuts}.intersection(rows):
            weights = given.weights_of(query)  # [1, heads, key]
            for _, at, key, head in cuts:
                if at == query:
                    weights[:, slice(None) if head is None else head, key] = 0
            context[:, :, rows.index(query)] = (weights[:, :, None] @ given.value)[:, :, 0]
        context[:, [head for at, head in self.off if at == layer]] = 0
        return context

    @inference_mode
    def _compute(self) -> torch.Tensor:
        """From the lowest layer with a change; if only weights are cut there, only their queries change."""
        trace, layers, every = self.trace, self.trace.model.layers, range(self.trace.kept)
        states = trace.states.clone()
        for layer in range(self.first, len(layers) + 1):
            for edit in self.edits:
                edit.put(states, layer)
            if layer == len(layers):
                break
            hidden = states[layer][None]  # [1, tokens, hidden]
            cut = {query for at, query, _, _ in self.cuts if at == layer}
            off = any(at == layer for at, _ in self.off) or any(edit.first == layer for edit in self.edits)
            rows = list(every) if off or not hidden[0].equal(trace.states[layer]) else sorted(cut)
            if layer == len(layers) - 1 and self.ends is not None:
                rows = [row for row in rows if row in self.ends]
            if not rows:
                continue
            if off or cut or len(rows) < trace.kept:
                context = self.context(layer, rows, states)
                states[layer + 1, rows] = layers[layer].after_heads(context, hidden[:, rows])[0]
            else:
                states[layer + 1] = layers[layer](hidden)[0]
        return states


@inference_mode
def vectors_without_links(trace: Trace, links: Sequence[tuple[int, int, int]], position: int, state: int) -> torch.Tensor:
    """[links, hidden]: the token at `position` in hidden state `state` with one link at a time cut, in all heads.

    A link is (layer, query, key), zero-based; those at or above `state` have no effect. All links restart from their own layer,
    as one growing batch: only the query's vector differs after the layer of the cut.
    """
    found = trace.states[state][[position] * len(links)].clone()
    hidden, there = torch.empty(0, *trace.states[0].shape), list[int]()
    for layer, module in enumerate(trace.model.layers[:state]):
        hidden = module(hidden) if there else hidden
        for number, (_, query, key) in enumerate(links):
            if links[number][0] == layer:
                context = Run(trace, cuts=[(layer, query, key, None)]).context(layer, [query], trace.states)
                after = trace.states[layer + 1][None].clone()
                after[:, query] = module.after_heads(context, trace.states[layer][[query]])[0]
                hidden, there = torch.cat([hidden, after]), [*there, number]
    if there:
        found[there] = hidden[:, position]
    return found


@inference_mode
def masked_in_turn(trace: Trace, words: Sequence[Sequence[int]]) -> Iterator[tuple[slice, torch.Tensor]]:
    """The input with [MASK] at the zero-based tokens of one of some words at a time.

    Yields slices of `words`, and hidden state 0 of the changed inputs, [batch, tokens, hidden].
    """
    for batch in batches(len(words), trace.kept):
        ids = torch.tensor(trace.ids).repeat(batch.stop - batch.start, 1)  # [batch, tokens]
        for row, word in zip(ids, words[batch], strict=True):
            row[list(word)] = trace.model.mask_id
        yield batch, trace.model.embed(ids, torch.tensor(trace.encoding.segments))


@inference_mode
def readings_without(trace: Trace, target: Target, words: Sequence[Sequence[int]]) -> Reading:
    """The target with [MASK] at the zero-based tokens of one of some words at a time: [words] each."""
    found = [last_vectors(trace.model, 0, hidden, target.position) for _, hidden in masked_in_turn(trace, words)]
    return read_each(trace.model, target, torch.cat([torch.empty(0, trace.states.shape[-1]), *found]))


def with_mask(trace: Trace, position: int) -> Trace:
    """The input with [MASK] at a zero-based token. Its pass is cached with the trace, and with it all that is derived from it."""
    model, encoding = trace.model, trace.encoding

    def read() -> Pass:
        ids, tokens = list(encoding.ids), list(encoding.tokens)
        ids[position], tokens[position] = model.mask_id, model.tokenizer.mask_token
        return Trace.of(model, replace(encoding, ids=tuple(ids), tokens=tuple(tokens))).reading

    return Trace(model, trace.once(("with mask", position), read))


@inference_mode
def patching_in_steps(clean: Trace, corrupted: Trace, target: Target) -> Generator[float, None, Reading]:
    """Copy one hidden state at a time from the clean run into the corrupted one; yields the share done, 0 to 1.

    Returns the target in the corrupted run, [hidden states, tokens] each, when the hidden state at that layer (0: embeddings)
    and position is the clean run's: interchange interventions (Geiger et al. 2021), or activation patching (Zhang & Nanda
    2024), of the residual stream. Raises InputError when the two inputs do not have the same number of tokens.
    """
    if clean.kept != corrupted.kept:
        raise InputError(
            f"The inputs have {clean.kept} and {corrupted.kept} pieces, but need the same number. "
            "Swap one word for another of one piece."
        )
    model, layers, tokens = clean.model, clean.model.capabilities.layers, clean.kept
    found, everywhere = torch.empty_like(clean.states), torch.arange(tokens)
    for layer in range(layers + 1):
        for batch in batches(tokens, tokens):
            here = everywhere[batch]
            patched = corrupted.states[layer].repeat(len(here), 1, 1)  # [batch, tokens, hidden]
            patched[torch.arange(len(here)), here] = clean.states[layer][here]
            found[layer, batch] = last_vectors(model, layer, patched, target.position)
        yield (layer + 1) / (layers + 1)
    return read_each(model, target, found)
