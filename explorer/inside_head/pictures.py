"""Pictures of the Inside a head tab: one head step by step, and several inputs padded to the rectangle that a model reads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis.attention import scale_end
from explorer.techniques.inside import HeadStep
from explorer.ui.pictures.base import to_base64
from explorer.ui.pictures.numbers import Column, Table, columns_of, keep, plain
from explorer.ui.pictures.word_grid import word_grid

REAL, LOOKED_AT = 0.15, 0.45  # how dark real tokens and the ones of the mask are; [PAD] and 0 have the page's background


def head_steps(step: HeadStep, tokens: Sequence[str], query: int, keys: np.ndarray) -> dict[str, Any]:
    """The `head_steps` component's value for one query with all keys, of which `keys` (zero-based) are shown one by one.

    `raised` is e^score as a share of the largest; raised / total is the weight. `added` is weight · value, whose sum over all
    rows is `output`. A key that a sliding window hides has no `scaled` score.
    """
    seen = step.weights > 0
    raised = np.where(seen, np.exp(step.scaled - step.scaled[seen].max()), 0.0)
    added = step.weights[:, None] * step.values
    others = np.setdiff1d(np.arange(len(tokens)), keys)
    rows = [
        {
            "token": tokens[key],
            "position": int(key),
            "dot": float(step.dots[key]),
            "scaled": plain(step.scaled[key]) if seen[key] else None,
            "raised": float(raised[key]),
            "weight": float(step.weights[key]),
            "key": _packed(step.keys[key]),
            "added": _packed(added[key]),
        }
        for key in keys
    ]
    rest = {"count": len(others), "raised": float(raised[others].sum()), "weight": float(step.weights[others].sum())}
    shown = {
        "query": tokens[query],
        "size": len(step.query),
        "queryStrip": _packed(step.query),
        "keys": rows,
        "rest": rest | {"added": _packed(added[others].sum(0))} if len(others) else None,
        "total": float(raised.sum()),
        "output": _packed(step.output),
        "keyTop": _top(step.keys, step.query),
        "addedTop": _top(added),
        "mixedTop": _top(step.output, added),
        "weightTop": float(scale_end(step.weights.max(), len(tokens))),
        "alt": f"The query of {tokens[query]} with {len(keys)} keys: scores, weights, and the values times their weights.",
    }
    names = ("key_position", "key", "dot_product", "scaled", "raised", "weight")
    listed = [[row[name] for name in ("position", "token", "dot", "scaled", "raised", "weight")] for row in rows]
    return keep(shown, lambda: Table.of(names, listed))


def _packed(vector: np.ndarray) -> str:
    return to_base64(np.asarray(vector, dtype=np.float32))


def _top(*vectors: np.ndarray) -> float:
    return max(1e-9, *(float(np.abs(one).max()) for one in vectors))


def batch_grid(tokens: Sequence[Sequence[str]], ids: np.ndarray, attention_mask: np.ndarray) -> dict[str, Any]:
    """The `words` component's value for tokens, ids and attention mask [inputs, tokens]: three rows for each input.

    The column where padding begins is marked, so that a picture that is too wide opens there.
    """
    inputs, width = ids.shape
    shade = np.where(attention_mask, REAL, 0.0).tolist()
    texts = {  # [inputs, tokens] each, with how dark the cells are
        "tokens": (tokens, shade),
        "ids": (ids, shade),
        "mask": (attention_mask.astype(int), LOOKED_AT * attention_mask),
    }
    rows = {
        f"{name} {row + 1}": [(str(text), float(share), "") for text, share in zip(cells[row], dark[row], strict=True)]
        for name, (cells, dark) in texts.items()
        for row in range(inputs)
    }
    empty = np.flatnonzero(~attention_mask.all(axis=0))  # columns with padding
    edge = int(empty[0]) if len(empty) else None
    columns = [str(place) for place in range(width)]
    each = ", ".join(f"input {row} has {int(mask.sum())} tokens" for row, mask in enumerate(attention_mask, start=1))
    alt = f"A rectangle of {inputs} × {width}: {each}; the mask is 0 in the {int((~attention_mask).sum())} other places."
    shown = word_grid("input", columns, list(rows), list(rows.values()), edge, range(width)) | {"alt": alt}
    table: dict[str, Column] = {
        "input": np.repeat(np.arange(1, inputs + 1), width),
        "position": np.tile(np.arange(width), inputs),
        "token": [token for row in tokens for token in row],
        "id": ids.ravel(),
        "attention_mask": attention_mask.astype(int).ravel(),
    }
    return keep(shown, lambda: columns_of(**table))
