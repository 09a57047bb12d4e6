"""The origin of every token's vector: the mixing of all layers, and the routes to one place, multiplied backwards.

A layer's mixing is ALTI's (`mixing.py`). The share of a place that comes from each token at a lower hidden state is the product
of the layers' rows on the way down: Ferrando and Voita 2024, 'Information Flow Routes', section 2, for an encoder. Weights that
are cut or belong to heads switched off are zero after the softmax; the rest of their row is not renormalized.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from threading import Lock
from weakref import ref

import numpy as np

from explorer.bert import attending
from explorer.bert.attending import Heads
from explorer.bert.layer import Layer
from explorer.bert.trace import Reading, Trace
from explorer.core.cache import OnceCache
from explorer.core.cores import twice
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import TRACE_MEGABYTES
from explorer.techniques.ablation import Cut, Head, changed_states
from explorer.techniques.block import Block
from explorer.techniques.mixing import SHORT, head_shares_of, shares_at
from explorer.techniques.mixing import shares as shares_of

Patch = tuple[int, int, Trace]
"""(hidden state, token, the run from which its vector is taken), as in `changed_states`."""

FEW = 4096  # weights per head up to which only the rows with cuts are recomputed
KEPT_BYTES = TRACE_MEGABYTES.bytes // 4  # for the mixings of all inputs: one of 512 tokens of BERT-base is 13 MB


@dataclass(frozen=True, eq=False)
class Mixing:
    """How the attention block of every layer mixes tokens.

    `shares` is [layers, query, key] float32, at least 0, rows sum to 1; read-only. `max_error` is the largest difference between
    the sum of the parts and the model's own vectors after the attention block.
    """

    shares: np.ndarray
    max_error: float


@dataclass(frozen=True)
class Route:
    """The flow from one token to another in one layer (zero-based), and its `share` of the flow at the place followed."""

    layer: int
    query: int
    key: int
    share: float


Key = tuple["ref[Reading]", frozenset[Head], frozenset[Cut]]
_kept: OnceCache[Key, Mixing] = OnceCache(KEPT_BYTES, lambda one: one.shares.nbytes)


def _key(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = ()) -> Key:
    # A weak reference: the reading of a short input is 30 times as large as its mixing, and would not count here.
    return ref(trace.reading), frozenset(off), frozenset(cuts)


def mixing(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None) -> Mixing:
    """The mixing of all layers, with heads off, weights cut, or a vector patched in.

    Cached, except with a patch, whose other run would be kept in memory too.
    """
    if patch:
        return _made(trace, off, cuts, patch)[0]
    return _kept.get(_key(trace, off, cuts), lambda: _made(trace, off, cuts)[0])


@inference_mode
def mixing_and_states(
    trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> tuple[Mixing, torch.Tensor]:
    """The mixing, and the hidden states [layers + 1, tokens, hidden] of the same run, which it computes on the way.

    The states are those of `changed_states`.
    """
    if patch:
        return _made(trace, off, cuts, patch)
    states: list[torch.Tensor] = []

    def make() -> Mixing:
        found, run = _made(trace, off, cuts)
        states.append(run)
        return found

    found = _kept.get(_key(trace, off, cuts), make)
    return found, states[0] if states else changed_states(trace, off, None, cuts)


@inference_mode
def _made(
    trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> tuple[Mixing, torch.Tensor]:
    """Compute `mixing_and_states`. Layers below the first change are taken from the unchanged run."""
    layers = trace.model.layers
    first = min([head[0] for head in off] + [cut[0] for cut in cuts] + ([patch[0]] if patch else []) + [len(layers) + 1])
    made = np.empty((len(layers), trace.kept, trace.kept), dtype=np.float32)
    unchanged = _kept.peek(_key(trace)) if first <= len(layers) else None
    error = 0.0
    if unchanged:
        error, made[:first] = unchanged.max_error, unchanged.shares[:first]
    else:
        below = (Block.of(layers[layer], trace.states[layer], trace.heads(layer)) for layer in range(min(first, len(layers))))
        error = _put(made[:first], below)
    if first > len(layers):
        states = trace.states
    else:
        states = trace.states.clone()
        if unchanged and (queries := _cut_rows(trace, first, off, cuts, patch)):
            made[first] = unchanged.shares[first]
            error = max(error, _put_rows(made[first], trace, states, first, queries, cuts))
            first += 1
        error = max(error, _put(made[first:], _changed_blocks(trace, states, first, off, cuts, patch)))
    made.flags.writeable = False
    return Mixing(made, error), states


def _put(rows: np.ndarray, blocks: Iterator[Block]) -> float:
    """Write the shares of the blocks into `rows` [layers, query, key]; returns their largest error.

    Two layers of a long input are decomposed at a time, since most steps are too small to share them among all cores.
    """
    numbered, turn = enumerate(blocks), Lock()

    @inference_mode
    def decompose() -> float:
        error = 0.0
        while True:
            with turn:  # a changed layer reads the one before
                at, block = next(numbered, (-1, None))
            if block is None:
                return error
            found, theirs = shares_of(block)
            rows[at], error = found.numpy(), max(error, theirs)
            del block, found  # before the next is made: those of a long input are large

    return decompose() if rows.shape[-1] <= SHORT else max(twice(decompose))


def _cut_rows(trace: Trace, layer: int, off: Collection[Head], cuts: Collection[Cut], patch: Patch | None) -> list[int]:
    """The queries with cut weights in the first changed layer, if they are few and nothing else changes there; else []."""
    queries = sorted({query for at, query, *_ in cuts if at == layer})
    whole = any(at == layer for at, _ in off) or (patch and patch[0] == layer)
    return [] if whole or len(queries) * trace.kept > FEW else queries


def _put_rows(
    row: np.ndarray, trace: Trace, states: torch.Tensor, layer: int, queries: list[int], cuts: Collection[Cut]
) -> float:
    """Recompute the shares of these queries alone, in a layer whose other queries are unchanged; returns their error."""
    given, hidden, of = trace.heads(layer), states[layer, queries], trace.model.layers[layer]
    block = Block(of, hidden, torch.cat([given.weights_of(query) for query in queries]).transpose(0, 1), given.value[0])
    _with_zeros(block, [(head, queries.index(query), key) for head, query, key in _zeroed_by_cuts(layer, cuts)])
    states[layer + 1, queries] = of.after_heads(block.context[None], hidden)[0]
    found, error = shares_at(block, queries)
    row[queries] = found.numpy()
    return error


def _changed_blocks(
    trace: Trace, states: torch.Tensor, first: int, off: Collection[Head], cuts: Collection[Cut], patch: Patch | None
) -> Iterator[Block]:
    """The block of every layer from `first` on; `states` above it are overwritten by those of the run."""
    layers = trace.model.layers
    for layer in range(first, len(layers) + 1):
        if patch and patch[0] == layer:
            states[layer, patch[1]] = patch[2].states[layer][patch[1]]
        if layer == len(layers):
            return
        states[layer + 1], block = _run(layers[layer], states[layer], _zeroed(layer, off, cuts))
        yield block
        del block


Zeroed = Sequence[tuple["int | slice", "int | slice", "int | slice"]]
"""Indices of weights [heads, query, key] that are set to zero."""


def _zeroed(layer: int, off: Collection[Head], cuts: Collection[Cut]) -> Zeroed:
    everything = slice(None)
    return [*((head, everything, everything) for at, head in off if at == layer), *_zeroed_by_cuts(layer, cuts)]


def _zeroed_by_cuts(layer: int, cuts: Collection[Cut]) -> list[tuple[int | slice, int, int]]:
    return [(slice(None) if head is None else head, query, key) for at, query, key, head in cuts if at == layer]


def _with_zeros(block: Block, zeroed: Zeroed) -> Block:
    """Set some weights of the block to zero, in place; returns it."""
    for places in zeroed:
        block.weights[places] = 0
    return block


def _run(layer: Layer, hidden: torch.Tensor, zeroed: Zeroed) -> tuple[torch.Tensor, Block]:
    """The next hidden state of [tokens, hidden] with some weights at zero, and the attention block on the way."""
    blocks: list[Block] = []

    def attend(heads: Heads) -> torch.Tensor:
        blocks.append(_with_zeros(Block.of(layer, hidden, heads), zeroed))
        return blocks[0].context[None]

    after = attending.answering(attend, lambda: layer(hidden[None]))[0]
    return after, blocks[0]


@inference_mode
def block_of(
    trace: Trace,
    layer: int,
    off: Collection[Head] = (),
    cuts: Collection[Cut] = (),
    patch: Patch | None = None,
    states: torch.Tensor | None = None,
) -> Block:
    """The attention block of one layer (zero-based) in the changed run; its `states` are computed unless given."""
    states = changed_states(trace, off, patch, cuts) if states is None else states
    hidden = states[layer]
    heads = trace.heads(layer) if states is trace.states else trace.model.layers[layer].heads(hidden[None])
    return _with_zeros(Block.of(trace.model.layers[layer], hidden, heads), _zeroed(layer, off, cuts))


@inference_mode
def head_shares(
    trace: Trace, layer: int, query: int, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> np.ndarray:
    """The share that each head contributes to a query's shares: [heads + 1, key] float32, the last row being the residual.

    Their sum over heads is `mixing(...).shares[layer, query]`; a head that opposes is below 0. Layer and query are zero-based.
    """
    row = torch.from_numpy(mixing(trace, off, cuts, patch).shares[layer, query].copy())
    return head_shares_of(block_of(trace, layer, off, cuts, patch), query, row).numpy()


@inference_mode
def all_head_shares(
    trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> Iterator[np.ndarray]:
    """`head_shares` of every query, one layer at a time: [query, heads + 1, key] float32."""
    shares, states = mixing(trace, off, cuts, patch).shares, changed_states(trace, off, patch, cuts)
    for layer, rows in enumerate(shares):
        block = block_of(trace, layer, off, cuts, patch, states)
        yield torch.stack([head_shares_of(block, query, row) for query, row in enumerate(torch.from_numpy(rows.copy()))]).numpy()


@inference_mode
def head_parts(
    trace: Trace, layer: int, query: int, off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> np.ndarray:
    """The vectors of `head_shares` [heads + 1, key, width]; summed over the first axis T_i(x_j), the part of each token."""
    block = block_of(trace, layer, off, cuts, patch)
    return (block.head_parts(query) / block.deviation[query]).numpy()


def place_shares(shares: np.ndarray, position: int, state: int = -1) -> np.ndarray:
    """The share of `position` in hidden state `state` (-1: the last) that comes from each token: [state + 1, tokens] float32.

    `shares` are those of `mixing`. Row k is hidden state k; each row sums to 1, and the last one is 1 at the position itself.
    """
    state = range(len(shares) + 1)[state]
    found = np.zeros((state + 1, shares.shape[-1]), dtype=np.float32)
    found[state, position] = 1
    for layer in range(state - 1, -1, -1):
        found[layer] = found[layer + 1] @ shares[layer]
    return found


def routes(shares: np.ndarray, places: np.ndarray, limit: int = 200, others: bool = False) -> list[Route]:
    """The strongest routes to one place, at most `limit`, in falling order, without those of share 0.

    `places` are the `place_shares` of the same `shares`. A route's share is that of the query above it times its mixing with the
    key. Routes from a token to itself are included unless only `others` are wanted.
    """
    strongest, places_of = [np.empty(0, np.float32)], [np.empty(0, np.int64)]
    for layer in range(len(places) - 1):
        step = places[layer + 1, :, None] * shares[layer]
        if others:
            np.fill_diagonal(step, 0)
        best = _largest(step.ravel(), limit)
        strongest.append(step.ravel()[best])
        places_of.append(best + layer * step.size)
    values, at = np.concatenate(strongest), np.concatenate(places_of)
    best = _largest(values, limit)
    best = best[np.lexsort((at[best], -values[best]))]
    best = best[values[best] > 0]
    found = np.unravel_index(at[best], shares.shape)
    return list(map(Route, *(row.tolist() for row in found), values[best].tolist()))


def _largest(values: np.ndarray, limit: int) -> np.ndarray:
    """The indices of the `limit` largest values, unordered."""
    return np.argpartition(-values, limit)[:limit] if len(values) > limit else np.arange(len(values))


@inference_mode
def strongest_heads(
    trace: Trace, steps: Sequence[Route], off: Collection[Head] = (), cuts: Collection[Cut] = (), patch: Patch | None = None
) -> list[int | None]:
    """For each route the head (zero-based) that contributes most, None if the residual does."""
    shares, states = mixing(trace, off, cuts, patch).shares, changed_states(trace, off, patch, cuts)
    found: dict[Route, int] = {}
    by_layer = attrgetter("layer")
    for layer, there in groupby(sorted(steps, key=by_layer), by_layer):
        block = block_of(trace, layer, off, cuts, patch, states)
        for query, some in groupby(sorted(there, key=attrgetter("query")), attrgetter("query")):
            best = head_shares_of(block, query, torch.from_numpy(shares[layer, query].copy())).argmax(0).tolist()
            found |= {step: best[step.key] for step in some}
    heads = trace.model.capabilities.heads
    return [None if found[step] == heads else found[step] for step in steps]
