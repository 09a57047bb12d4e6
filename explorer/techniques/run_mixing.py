"""How every layer of a run mixes tokens, with heads off, weights cut, or other edits; and the cache of it.

A layer's mixing is ALTI's (`mixing.py`). Weights that are cut or belong to heads switched off are zero after the softmax; the
rest of their row is not renormalized.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from weakref import ref

import numpy as np

from explorer.bert.trace import Reading, Trace
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import CACHE_MEGABYTES
from explorer.core.process import half_the_cores
from explorer.techniques.ablation import Cut, Head, changed_states, first_change, rerun
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


Key = tuple["ref[Reading]", frozenset[Head], frozenset[Cut]]
_kept: OnceCache[Key, Mixing] = OnceCache(KEPT_BYTES, lambda one: one.shares.nbytes)


def _key(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = ()) -> Key:
    # A weak reference: the reading of a short input is 30 times as large as its mixing, and would not count here.
    return ref(trace.reading), frozenset(off), frozenset(cuts)


def mixing(trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Collection[Edit] = ()) -> Mixing:
    """The mixing of all layers, with heads off, weights cut, or other edits.

    Cached, except with edits, whose other run would be kept in memory too.
    """
    if edits:
        return _make(trace, off, cuts, edits)[0]
    return _kept.get(_key(trace, off, cuts), lambda: _make(trace, off, cuts)[0])


@inference_mode
def mixing_and_states(
    trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Collection[Edit] = ()
) -> tuple[Mixing, torch.Tensor]:
    """The mixing, and the hidden states [layers + 1, tokens, hidden] of the same run, which it computes on the way.

    The states are those of `changed_states`.
    """
    if edits:
        return _make(trace, off, cuts, edits)
    states: list[torch.Tensor] = []

    def make() -> Mixing:
        found, run = _make(trace, off, cuts)
        states.append(run)
        return found

    found = _kept.get(_key(trace, off, cuts), make)
    return found, states[0] if states else changed_states(trace, off, (), cuts)


@inference_mode
def _make(
    trace: Trace, off: Collection[Head] = (), cuts: Collection[Cut] = (), edits: Collection[Edit] = ()
) -> tuple[Mixing, torch.Tensor]:
    """Compute `mixing_and_states`. Layers below the first change are taken from the unchanged run."""
    layers = trace.model.layers
    first = first_change(off, cuts, edits, len(layers) + 1)
    made = np.empty((len(layers), trace.kept, trace.kept), dtype=np.float32)
    unchanged = _kept.peek(_key(trace)) if first <= len(layers) else None
    begin, error = 0, 0.0
    if unchanged:
        begin, error = first, unchanged.max_error
        made[:first] = unchanged.shares[:first]
    states = trace.states if first > len(layers) else trace.states.clone()
    below = (Block.of(layers[layer], trace.states[layer], trace.heads(layer)) for layer in range(begin, min(first, len(layers))))
    error = max(error, _put(made[begin:], chain(below, _changed_blocks(trace, states, first, off, cuts, edits))))
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

    return decompose() if rows.shape[-1] <= SHORT else max(_twice(decompose))


_another = ThreadPoolExecutor(1, "another")  # one for the process, since the C library keeps memory for each thread


def _twice(work: Callable[[], float]) -> list[float]:
    """The results of `work` run here and, unless it is busy, in another thread at the same time, each on half of the cores."""

    def on_half() -> float:
        with half_the_cores():
            return work()

    there = _another.submit(on_half)
    here = on_half()
    return [here] if there.cancel() else [here, there.result()]


def _changed_blocks(
    trace: Trace, states: torch.Tensor, first: int, off: Collection[Head], cuts: Collection[Cut], edits: Collection[Edit]
) -> Iterator[Block]:
    """The block of every layer from `first` on; `states` above it are overwritten by those of the run."""
    for layer in rerun(states, first, edits):
        block = block_of(trace, layer, off, cuts, edits, states)
        states[layer + 1] = block.layer.after_heads(block.context[None], block.hidden[None])[0]
        yield block
        del block


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
    heads = trace.heads(layer) if states is trace.states else trace.model.layers[layer].heads(hidden[None])
    for edit in edits:
        heads = edit.give(layer, heads)
    if queries is not None:
        hidden, heads = hidden[list(queries)], heads.of_queries(queries)
    block = Block.of(trace.model.layers[layer], hidden, heads)
    block.weights[[head for at, head in off if at == layer]] = 0
    for at, query, key, head in cuts:
        if at == layer and (queries is None or query in queries):
            row = query if queries is None else queries.index(query)
            block.weights[slice(None) if head is None else head, row, key] = 0
    return block
