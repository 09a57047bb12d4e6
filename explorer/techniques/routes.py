"""The origin of every token's vector: the mixing of all layers, and the routes to one place, multiplied backwards.

A layer's mixing is ALTI's (`mixing.py`). The share of a place that comes from each token at a lower hidden state is the product
of the layers' rows on the way down: Ferrando and Voita 2024, 'Information Flow Routes', section 2, for an encoder.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode, torch
from explorer.techniques.ablation import Cut, Head, changed_states
from explorer.techniques.edits import Edit
from explorer.techniques.mixing import divide
from explorer.techniques.run_mixing import block_of


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
    by_layer = attrgetter("layer")
    for layer, some in groupby(sorted(steps, key=by_layer), by_layer):
        there = list(some)
        queries = sorted({step.query for step in there})
        block = block_of(trace, layer, off, cuts, edits, states, queries)
        rows, keys = [queries.index(step.query) for step in there], [step.key for step in there]
        divided = divide(block, rows, keys, [step.query == step.key for step in there])
        # The whole of a row in which no part comes closer is the token's own.
        best = torch.where(divided.sum(0) > 0, divided.argmax(0), len(divided) - 1).tolist()
        found |= dict(zip(there, best, strict=True))
    heads = trace.model.capabilities.heads
    return [None if found[step] == heads else found[step] for step in steps]
