"""Head outputs before W_O for every token of a corpus, computed from its hidden states and cached in a file per layer."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.readings import key_of, when_free
from explorer.core.cache import OnceCache, weight
from explorer.core.engine import inference_mode, torch
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import map_steps
from explorer.corpus.compute.file import VectorFile
from explorer.corpus.compute.reading import CorpusStates, corpus_states_in_steps, unpadded
from explorer.text.corpora import Corpus

READING = 0.8  # the share of the progress that goes to reading the hidden states

_opened: OnceCache[tuple[object, ...], np.ndarray] = OnceCache(RESULTS_MEGABYTES.bytes, weight)


def corpus_contexts_in_steps(model: Explorer, corpus: Corpus, layer: int) -> Generator[float, None, np.ndarray]:
    """Head outputs [heads, tokens, head_size] of a layer (zero-based) before W_O: for each token the weighted sum of the values.

    In the precision of the hidden states. Yields the share done, 0 to 1. Raises InputError.
    """
    states = yield from map_steps(corpus_states_in_steps(model, corpus, [layer]), lambda share: READING * share)
    how = "contexts", layer, states.states.dtype.str
    key = model.checkpoint, corpus.key, *how
    if (known := _opened.peek(key)) is not None:
        return known
    shape = _shape(model, states, layer)

    def fill(folder: Path) -> Generator[float, None, VectorFile]:
        file = VectorFile(folder, shape, states.states.dtype)
        for share in _read(model, states, layer, file):
            yield READING + (1 - READING) * share
        return file

    size = int(np.prod(shape)) * states.states.dtype.itemsize
    file = yield from when_free(key_of(model, corpus.texts, *how), size, fill)
    found = file.opened()
    _opened.put(key, found)
    return found


@inference_mode
def _shape(model: Explorer, states: CorpusStates, layer: int) -> tuple[int, int, int]:
    """The number of heads, of tokens, and the head size."""
    value = model.layers[layer].heads(*states.padded(layer, np.array([0]))).value
    return value.shape[1], len(states.tokens), value.shape[-1]


def _read(model: Explorer, states: CorpusStates, layer: int, file: VectorFile) -> Generator[float, None, None]:
    """Compute and write the batches that are missing; yields the share done."""
    batches = states.tokens.batches()
    if not (done := file.done()):
        file.begin()
    for number, rows in enumerate(batches[done:], start=done + 1):
        yield (number - 1) / len(batches)
        starts, lengths = states.tokens.starts[rows].tolist(), states.tokens.lengths[rows].tolist()
        with torch.inference_mode():
            context = model.layers[layer].heads(*states.padded(layer, rows)).context()
        for head in range(context.shape[1]):
            file.write(head, unpadded(context[:, head], starts, lengths))
        file.finish(number)
    yield 1.0
