"""How every layer of a run mixes tokens, with heads off, weights cut, or other edits; and the cache of it.

A layer's mixing is ALTI's (`mixing.py`). Weights that are cut or belong to heads switched off are zero after the softmax; the
rest of their row is not renormalized.
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
from explorer.techniques.ablation import Cut, Head, changed_states, first_change
from explorer.techniques.edits import Edit
from explorer.techniques.mixing import SHORT, Block
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
    hidden = states[layer]
    heads = trace.heads(layer) if hidden.equal(trace.states[layer]) else trace.model.layers[layer].heads(hidden[None])
    for edit in edits:
        heads = edit.give(layer, heads)
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
