"""Endpoints for the similarity of tokens, of sentences, and of one word in two contexts."""

from typing import Any

from explorer.analysis.similarity import cosine_matrix, cosines
from explorer.bert.explorer import load
from explorer.bert.features import features
from explorer.core.errors import InputError
from explorer.core.limits import COMPARED
from explorer.hidden_states.word import find_word
from explorer.text import limits


def hidden_states(text_a: str, text_b: str = "", layer: int = 1, model: str = "") -> dict[str, Any]:
    """The vector of every token after a layer; 0 is the embedding output, -1 the last layer.

    Returns:
        `tokens`, `vectors`.
    """
    explorer = load(model)
    index = limits.hidden_state_index(layer, explorer.capabilities.layers)
    trace = explorer.trace(text_a, text_b)
    return {"tokens": list(trace.tokens), "vectors": trace.hidden_states[index].tolist()}


def similarity(text_a: str, text_b: str = "", layer: int = -1, model: str = "") -> dict[str, Any]:
    """Cosines, -1 to 1, between all tokens at a hidden state; 0 is the embedding output, -1 the last layer.

    Returns:
        `tokens`, `matrix`.
    """
    explorer = load(model)
    index = limits.hidden_state_index(layer, explorer.capabilities.layers)
    trace = explorer.trace(text_a, text_b)
    return {"tokens": list(trace.tokens), "matrix": cosine_matrix(trace.hidden_states[index]).tolist()}


def word_in_context(text_a: str, text_b: str, word: str, model: str = "") -> dict[str, Any]:
    """The cosine between one word in A and in B at every hidden state, A and B each run alone.

    A word of several pieces is the mean of its pieces; its first occurrence in each text counts.

    Returns:
        `layers`: a cosine for every hidden state.
    """
    explorer = load(model)
    vectors = []
    for text, name in ((text_a, "text A"), (text_b, "text B")):
        trace = explorer.trace(limits.check_text(text, name))
        if not (found := find_word(text, word, trace.encoding.offsets, explorer.as_read)):
            raise InputError(
                f"The word {word.strip()[:40]!r} does not occur in {name}, or not in the part that is read. Choose one that does."
            )
        vectors.append(trace.hidden_states[:, found[0]].mean(axis=1))
    return {"layers": cosines(*vectors).tolist()}


def sentence_similarity(texts: list[str], layer: int = -1, pooling: str = "mean", model: str = "") -> dict[str, Any]:
    """Cosines, -1 to 1, between the vectors of up to 50 texts; pooling "cls", "mean" or "pooler" (last layer).

    Returns:
        `matrix`.
    """
    given = limits.check_texts(texts, COMPARED)
    return {"matrix": cosine_matrix(features(load(model), given, layer, pooling)).tolist()}


ENDPOINTS = (hidden_states, similarity, word_in_context, sentence_similarity)
