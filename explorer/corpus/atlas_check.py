"""The check of an atlas: its strongest sentence, run again alone."""

from __future__ import annotations

import numpy as np

from explorer.analysis.head_metrics import TokenFacts, head_metrics
from explorer.bert.explorer import Explorer
from explorer.corpus.compute.atlas_file import HeadAtlas
from explorer.text.corpora import Corpus
from explorer.ui.view import matches

METRIC_OF = {"previous token": "previous", "next token": "next", "itself": "self", "same word": "same_token"}


def atlas_check(model: Explorer, corpus: Corpus, atlas: HeadAtlas, layer: int, head: int) -> dict[str, str] | None:
    """Whether the sentences where a head (zero-based) is strongest have the same weights when run alone; None without any."""
    strengths = atlas.strengths[layer, head]
    places = np.flatnonzero(strengths > 0)
    if not len(places):
        return None
    errors = [abs(_alone(model, corpus, atlas, (layer, head, int(place))) - float(strengths[place])) for place in places]
    return matches(max(errors), f"the {len(places)} sentences shown, each read alone, give the same weights", 0.02)


def _alone(model: Explorer, corpus: Corpus, atlas: HeadAtlas, at: tuple[int, int, int]) -> float:
    """The weight in an example, (layer, head, place) zero-based, when its sentence is run alone."""
    layer, head, _ = at
    row, word, other = atlas.examples[at].tolist()
    one, name = corpus.sentences[row], str(atlas.habits[layer, head])
    trace = model.trace(one.text)
    weights = trace.attention(layer)[head]
    if word < 0:
        return float(head_metrics(weights[None], TokenFacts.of(trace.encoding))[METRIC_OF[name]][0])
    begins = [start for start, _ in trace.encoding.offsets]
    words = np.searchsorted(one.starts, begins, side="right") - 1
    words[np.array(trace.encoding.sequences) < 0] = -1
    query, key = (other, word) if atlas.looks_back(layer, head) else (word, other)
    return float(weights[np.ix_(words == query, words == key)].sum(axis=1).mean())
