"""One head's attention as lines between tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis.attention import scale_end
from explorer.ui.pictures.alternatives import ARROW, strongest_cells
from explorer.ui.pictures.base import sqrt_bytes, to_base64
from explorer.ui.pictures.numbers import Places, keep, matrix
from explorer.ui.pictures.window import token_places

MOST_EDGES = 1500


def attention_lines(
    weights: np.ndarray,
    tokens: Sequence[str],
    kinds: Sequence[str],
    selected: int | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    key_kinds: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The component's value for `weights` [query, key], none negative; `selected` is a zero-based query.

    The keys are the queries unless given. For a long input only the MOST_EDGES strongest edges are drawn together; the edges of a
    single token are always complete.
    """
    weights = np.asarray(weights, dtype=np.float32)
    key_tokens = tokens if key_tokens is None else key_tokens
    key_kinds = kinds if key_kinds is None else key_kinds
    shape = (len(tokens), len(key_tokens))
    top, flat = float(scale_end(weights.max(), shape[1])), weights.ravel()
    strongest = np.argsort(-flat, kind="stable")[:MOST_EDGES]
    shown = {
        "queries": {"tokens": list(tokens), "kinds": list(kinds)},
        "keys": {"tokens": list(key_tokens), "kinds": list(key_kinds)},
        "data": to_base64(sqrt_bytes(weights / top)),
        "edges": to_base64(strongest[flat[strongest] > 0].astype(np.uint32)),
        "top": top,
        "strongest": {"query": _strongest(weights), "key": _strongest(weights.T)},
        "places": {"query": token_places(range(shape[0])), "key": token_places(range(shape[1]))},
        "selected": None if selected is None else int(selected),
        "alt": strongest_cells(weights, tokens.__getitem__, key_tokens.__getitem__, "weight", ARROW),
    }
    sides = Places.of_tokens(tokens, "query"), Places.of_tokens(key_tokens, "key")
    return keep(shown, lambda: matrix(weights, *sides, "weight"))


def _strongest(rows: np.ndarray) -> dict[str, list[float]]:
    return {"index": rows.argmax(axis=1).tolist(), "weight": rows.max(axis=1).round(6).tolist()}
