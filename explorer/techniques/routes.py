"""The origin of every token's vector: how each layer of a run mixes tokens, and the routes to one place, multiplied backwards.

A layer's mixing is ALTI's (`mixing.py`). Weights that are cut or belong to heads switched off are zero after the softmax; the
rest of their row is not renormalized. The share of a place that comes from each token at a lower hidden state is the product of
the layers' rows on the way down: Ferrando and Voita 2024, 'Information Flow Routes', section 2, for an encoder.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import CACHE_MEGABYTES
from explorer.core.process import half_the_cores
from explorer.techniques.ablation import Run
from explorer.techniques.mixing import SHORT, Block, divide
from explorer.techniques.mixing import shares as shares_of

KEPT_BYTES = CACHE_MEGABYTES.bytes // 4  # for the mixings of all inputs: one of 512 tokens of BERT-base is 13 MB


class Mixing(NamedTuple):
    """How the attention block of every layer mixes tokens.

    `shares` is [layers, query, key] float32, at least 0, rows sum to 1; read-only. `max_error` is the largest difference between
    the sum of the parts and the model's own vectors after the attention block.
    """

    shares: np.ndarray
    max_error: float


_two = ThreadPoolExecutor(2, "mixing")  # for the whole process, since the C library keeps memory for each thread

_kept: OnceCache[Hashable, Mixing] = OnceCache(KEPT_BYTES, lambda one: one.shares.nbytes)


def mixing(run: Run) -> Mixing:
    """The mixing of all layers of a run, changed or not. Cached."""
    # By keys with weak references: the reading of a short input is 30 times as large as its mixing, and would not count here.
    return _kept.get(run.key, lambda: _make(run))


@inference_mode
def _make(run: Run) -> Mixing:
    """Compute the mixing. Layers below the first change are taken from the unchanged run if its mixing is cached."""
    tokens, layers, _ = run.trace.kept, range(len(run.trace.model.layers)), run.states  # once, before two threads ask for them
    made = np.empty((len(layers), tokens, tokens), dtype=np.float32)
    unchanged = _kept.peek(Run(run.trace).key) if run.is_changed else None
    begin, error = (run.first, unchanged.max_error) if unchanged else (0, 0.0)
    if unchanged:
        made[:begin] = unchanged.shares[:begin]

    # Most steps are too small to share them among all cores: two layers of a long input are decomposed at a time.
    around, map_layers = (nullcontext, map) if tokens <= SHORT else (half_the_cores, _two.map)

    @inference_mode
    def decompose(layer: int) -> float:
        with around():
            shares, error = shares_of(block_of(run, layer))
        made[layer] = shares.numpy()
        return error

    error = max([error, *map_layers(decompose, layers[begin:])])
    made.flags.writeable = False
    return Mixing(made, error)


@inference_mode
def block_of(run: Run, layer: int, queries: Sequence[int] | None = None) -> Block:
    """The attention block of one layer (zero-based) in a run.

    With `queries`, it has the rows of these tokens only, in this order; the keys are all tokens.
    """
    hidden, heads = run.states[layer], run.heads(layer)
    if queries is not None:
        places = slice(queries[0], queries[0] + 1) if len(queries) == 1 else list(queries)  # of one, without a copy
        hidden, heads = hidden[places], heads.of_queries(places)
    room = torch.empty(*heads.query.shape[:-1], heads.key.shape[-2])  # else scores and weights would be in memory together
    block = Block(run.trace.model.layers[layer], hidden, heads.weights(room)[0], heads.value[0])
    for at, off in run.off:
        if at == layer:
            block.weights[off] = 0
    for at, query, key, head in run.cuts:
        if at == layer and (queries is None or query in queries):
            row = query if queries is None else queries.index(query)
            block.weights[slice(None) if head is None else head, row, key] = 0
    return block


class Route(NamedTuple):
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
def strongest_heads(run: Run, steps: Sequence[Route]) -> list[int | None]:
    """For each route the head (zero-based) that contributes most, None if the residual does."""
    found: dict[Route, int] = {}
    for layer in {step.layer for step in steps}:
        there = [step for step in steps if step.layer == layer]
        queries = sorted({step.query for step in there})
        rows, keys = [queries.index(step.query) for step in there], [step.key for step in there]
        divided = divide(block_of(run, layer, queries), rows, keys, [step.query == step.key for step in there])
        # The whole of a row in which no part comes closer is the token's own.
        best = torch.where(divided.sum(0) > 0, divided.argmax(0), len(divided) - 1).tolist()
        found |= dict(zip(there, best, strict=True))
    heads = run.trace.model.capabilities.heads
    return [None if found[step] == heads else found[step] for step in steps]
