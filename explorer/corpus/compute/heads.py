"""Head outputs before W_O for every token of a corpus, computed from its hidden states and cached in a file per layer."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import inference_mode
from explorer.core.steps import map_steps
from explorer.corpus.compute.file import Pieces
from explorer.corpus.compute.reading import corpus_states_in_steps, vectors_in_steps
from explorer.text.corpora import Corpus

READING = 0.8  # the share of the progress that goes to reading the hidden states


def corpus_contexts_in_steps(model: Explorer, corpus: Corpus, layer: int) -> Generator[float, None, np.ndarray]:
    """Head outputs [heads, tokens, head_size] of a layer (zero-based) before W_O: for each token the weighted sum of the values.

    In the precision of the hidden states. Yields the share done, 0 to 1. Raises InputError.
    """
    states = yield from map_steps(corpus_states_in_steps(model, corpus, [layer]), lambda share: READING * share)
    heads = model.layers[layer].heads

    @inference_mode
    def read(rows: np.ndarray) -> list[tuple[int, Pieces]]:
        context = heads(*states.padded(layer, rows)).context()
        return [(head, states.tokens.unpadded(context[:, head], rows)) for head in range(context.shape[1])]

    first = inference_mode(lambda: heads(*states.padded(layer, np.array([0]))).value)()
    shape = first.shape[1], len(states.tokens), first.shape[-1]
    steps = vectors_in_steps(model, corpus, ("contexts", layer), shape, states.states.dtype, read)
    return (yield from map_steps(steps, lambda share: READING + (1 - READING) * share))
