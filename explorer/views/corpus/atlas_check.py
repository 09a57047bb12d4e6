"""The check of an atlas: its strongest sentence, run again alone."""

from __future__ import annotations

import numpy as np

from explorer.analysis.head_metrics import TokenFacts, head_metrics
from explorer.corpus.atlas_file import HeadAtlas
from explorer.model.explorer import Explorer
from explorer.text.corpus import Corpus
from explorer.views.view import matches

METRIC_OF = {"previous token": "previous", "next token": "next", "itself": "self", "same word": "same_token"}


def atlas_check(model: Explorer, corpus: Corpus, atlas: HeadAtlas, layer: int, head: int) -> dict[str, str] | None:
    """Whether the sentence where a head (zero-based) is strongest gives the same weight when run alone; None without one."""
    strength = float(atlas.strengths[layer, head, 0])
    if strength <= 0:
        return None
    at, word, other = atlas.examples[layer, head, 0].tolist()
    one, name = corpus.sentences[at], str(atlas.habits[layer, head])
    trace = model.trace(one.text)
    weights = trace.attention(layer)[head]
    if word < 0:
        alone = float(head_metrics(weights[None], TokenFacts.of(trace.encoding))[METRIC_OF[name]][0])
    else:
        begins = [start for start, _ in trace.encoding.offsets]
        words = np.searchsorted(one.starts, begins, side="right") - 1
        words[np.array(trace.encoding.sequences) < 0] = -1
        query, key = (other, word) if atlas.looks_back(layer, head) else (word, other)
        alone = float(weights[np.ix_(words == query, words == key)].sum(axis=1).mean())
    return matches(abs(alone - strength), "the first sentence, read alone, gives the same weight", 0.02)
