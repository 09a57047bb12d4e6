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
    heads: Sequence[int] = (),
) -> dict[str, Any]:
    """The component's value for `weights` [query, key], none negative; `selected` is a zero-based query.

    With `heads`, their numbers, the weights are [heads, query, key], and each head has a colour. The keys are the queries unless
    given. For a long input only the MOST_EDGES strongest edges are drawn together; those of a single token are always complete.
    """
    weights = np.asarray(weights, dtype=np.float32)
    key_tokens = tokens if key_tokens is None else key_tokens
    key_kinds = kinds if key_kinds is None else key_kinds
    each = weights.reshape(-1, len(tokens), len(key_tokens))
    top, flat = float(scale_end(weights.max(), len(key_tokens))), weights.ravel()
    strongest = np.argsort(-flat, kind="stable")[:MOST_EDGES]
    names = tokens.__getitem__, key_tokens.__getitem__
    told = [strongest_cells(one, *names, "weight", ARROW) for one in each]
    shown = {
        "queries": {"tokens": list(tokens), "kinds": list(kinds)},
        "keys": {"tokens": list(key_tokens), "kinds": list(key_kinds)},
        "heads": list(heads),
        "data": to_base64(sqrt_bytes(weights / top)),
        "edges": to_base64(strongest[flat[strongest] > 0].astype(np.uint32)),
        "top": top,
        "strongest": {"query": _strongest(each), "key": _strongest(each.swapaxes(1, 2))},
        "places": {"query": token_places(range(each.shape[1])), "key": token_places(range(each.shape[2]))},
        "selected": None if selected is None else int(selected),
        "alt": " ".join(f"Head {head}: {words}" for head, words in zip(heads, told, strict=True)) if heads else told[0],
    }
    sides = Places.of_tokens(tokens, "query"), Places.of_tokens(key_tokens, "key")
    return keep(shown, lambda: matrix(each.sum(axis=0), *sides, "weight"))


def _strongest(each: np.ndarray) -> dict[str, list[float]]:
    """For each row of [heads, rows, columns] where its largest weight is: the column, the head's place, and the weight."""
    best = each.max(axis=0)
    return {
        "index": best.argmax(axis=1).tolist(),
        "head": each.max(axis=2).argmax(axis=0).tolist(),
        "weight": best.max(axis=1).round(6).tolist(),
    }
