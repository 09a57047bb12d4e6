"""The origin of every token's vector: how each layer of a run mixes tokens, and the routes to one place, multiplied backwards.

A layer's mixing is ALTI's (`mixing.py`). Weights that are cut or belong to heads switched off are zero after the softmax; the
rest of their row is not renormalized. The share of a place that comes from each token at a lower hidden state is the product of
the layers' rows on the way down: Ferrando and Voita 2024, 'Information Flow Routes', section 2, for an encoder.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from weakref import ref

import numpy as np

from explorer.bert.trace import Reading, Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import CACHE_MEGABYTES
from explorer.core.process import half_the_cores
from explorer.techniques.ablation import Cut, Edit, Head, changed_states, first_change, heads_of
from explorer.techniques.mixing import SHORT, Block, divide
from explorer.techniques.mixing import shares as shares_of

KEPT_BYTES = CACHE_MEGABYTES.bytes // 4  # for the mixings of all inputs: one of 512 tokens of BERT-base is 13 MB


@dataclass(frozen=True, eq=False)
class Mixing:
    """How the attention block of every layer mixes tokens.

    `shares` is [layers, query, key] float32, at least 0, rows sum to 1; read-only. `max_error` is the largest difference between
    the sum of the parts and the model's own vectors after the attention block.
    """

    shares: np.ndarray
    max_error: float


_two = ThreadPoolExecutor(2, "mixing")  # for the whole process, since the C library keeps memory for each thread

Key = tuple["ref[Reading]", frozenset[Head], frozenset[Cut]]
_kept: OnceCache[Key, Mixing] = OnceCache(KEPT_BYTES, lambda one: one.shares.nbytes)


def _key(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = ()) -> Key:
    # A weak reference: the reading of a short input is 30 times as large as its mixing, and would not count here.
    return ref(trace.reading), frozenset(off), frozenset(cuts)


def mixing(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Collection[Edit] = ()) -> Mixing:
    """The mixing of all layers, with heads off, weights cut, or other edits. Cached, except with edits."""
    if edits:
        return _make(trace, off, cuts, edits)
    return _kept.get(_key(trace, off, cuts), lambda: _make(trace, off, cuts, ()))


@inference_mode
def _make(trace: Trace, off: Collection[Head], cuts: Collection[Cut], edits: Collection[Edit]) -> Mixing:
    """Compute the mixing. Layers below the first change are taken from the unchanged run if its mixing is cached."""
    states, layers = changed_states(trace, off, edits, cuts), range(len(trace.model.layers))
    made = np.empty((len(layers), trace.kept, trace.kept), dtype=np.float32)
    unchanged = _kept.peek(_key(trace)) if off or cuts or edits else None
    begin, error = first_change(off, cuts, edits, 0) if unchanged else 0, unchanged.max_error if unchanged else 0.0
    if unchanged:
        made[:begin] = unchanged.shares[:begin]

    @inference_mode
    def decompose(layer: int) -> float:
        shares, error = shares_of(block_of(trace, layer, off, cuts, edits, states))
        made[layer] = shares.numpy()
        return error

    def on_half(layer: int) -> float:
        with half_the_cores():
            return decompose(layer)

    # Most steps are too small to share them among all cores: two layers of a long input are decomposed at a time.
    errors = map(decompose, layers[begin:]) if trace.kept <= SHORT else _two.map(on_half, layers[begin:])
    error = max([error, *errors])
    made.flags.writeable = False
    return Mixing(made, error)


@inference_mode
def block_of(
    trace: Trace,
    layer: int,
    off: Collection[Head] = (),
    cuts: Collection[Cut] = (),
    edits: Collection[Edit] = (),
    states: torch.Tensor | None = None,
    queries: Sequence[int] | None = None,
) -> Block:
    """The attention block of one layer (zero-based) in the changed run; its `states` are computed unless given.

    With `queries`, it has the rows of these tokens only, in this order; the keys are all tokens.
    """
    states = changed_states(trace, off, edits, cuts) if states is None else states
    hidden, heads = states[layer], heads_of(trace, layer, states, edits)
    if queries is not None:
        hidden, heads = hidden[list(queries)], heads.of_queries(queries)
    room = torch.empty(*heads.query.shape[:-1], heads.key.shape[-2])  # else scores and weights would be in memory together
    block = Block(trace.model.layers[layer], hidden, heads.weights(room)[0], heads.value[0])
    block.weights[[head for at, head in off if at == layer]] = 0
    for at, query, key, head in cuts:
        if at == layer and (queries is None or query in queries):
            row = query if queries is None else queries.index(query)
            block.weights[slice(None) if head is None else head, row, key] = 0
    return block


@dataclass(frozen=True)
class Route:
    """The flow from one token to another in one layer (zero-based), and its `share` of the flow at the place followed."""

    layer: int
    query: int
    key: int
    share: float


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
    steps = places[1:, :, None] * shares[: len(places) - 1]  # [layers, query, key]
    if others:
        steps[:, *np.diag_indices(shares.shape[-1])] = 0
    values = steps.ravel()
    best = np.argpartition(-values, limit)[:limit] if len(values) > limit else np.arange(len(values))
    best = best[np.lexsort((best, -values[best]))]
    best = best[values[best] > 0]
    found = np.unravel_index(best, shares.shape)
    return list(map(Route, *(row.tolist() for row in found), values[best].tolist()))


@inference_mode
def strongest_heads(
    trace: Trace, steps: Sequence[Route], off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Collection[Edit] = ()
) -> list[int | None]:
    """For each route the head (zero-based) that contributes most, None if the residual does."""
    states = changed_states(trace, off, edits, cuts)
    found: dict[Route, int] = {}
    for layer in {step.layer for step in steps}:
        there = [step for step in steps if step.layer == layer]
        queries = sorted({step.query for step in there})
        block = block_of(trace, layer, off, cuts, edits, states, queries)
        rows, keys = [queries.index(step.query) for step in there], [step.key for step in there]
        divided = divide(block, rows, keys, [step.query == step.key for step in there])
        # The whole of a row in which no part comes closer is the token's own.
        best = torch.where(divided.sum(0) > 0, divided.argmax(0), len(divided) - 1).tolist()
        found |= dict(zip(there, best, strict=True))
    heads = trace.model.capabilities.heads
    return [None if found[step] == heads else found[step] for step in steps]
