"""Head outputs before W_O for every token of a corpus, computed from its hidden states and cached in a file per layer."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.readings import key_of, when_free
from explorer.core.cache import OnceCache, weight
from explorer.core.engine import inference_mode
from explorer.core.limits import RESULTS_MEGABYTES
from explorer.core.steps import map_steps
from explorer.corpus.compute.file import Pieces, VectorFile
from explorer.corpus.compute.reading import corpus_states_in_steps
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
    tokens, heads = states.tokens, model.layers[layer].heads

    @inference_mode
    def read(rows: np.ndarray) -> list[tuple[int, Pieces]]:
        context = heads(*states.padded(layer, rows)).context()
        return [(head, tokens.unpadded(context[:, head], rows)) for head in range(context.shape[1])]

    first = inference_mode(lambda: heads(*states.padded(layer, np.array([0]))).value)()
    shape = first.shape[1], len(tokens), first.shape[-1]

    def fill(folder: Path) -> Generator[float, None, VectorFile]:
        file = VectorFile(folder, shape, states.states.dtype)
        yield from map_steps(file.fill(tokens.batches(), read), lambda share: READING + (1 - READING) * share)
        return file

    size = int(np.prod(shape)) * states.states.dtype.itemsize
    file = yield from when_free(key_of(model, corpus.texts, *how), size, fill)
    found = file.opened()
    _opened.put(key, found)
    return found
