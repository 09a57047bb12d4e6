"""Several inputs of different length, padded to the rectangle that a model reads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.ui.pictures.numbers import Column, columns_of, keep
from explorer.ui.pictures.word_grid import word_grid

REAL, LOOKED_AT = 0.15, 0.45  # how dark real tokens and the ones of the mask are; [PAD] and 0 have the page's background


def batch_grid(tokens: Sequence[Sequence[str]], ids: np.ndarray, attention_mask: np.ndarray) -> dict[str, Any]:
    """The `words` component's value for tokens, ids and attention mask [inputs, tokens]: three rows for each input.

    The column where padding begins or ends is marked, so that a picture that is too wide opens there.
    """
    inputs, width = ids.shape
    numbers = [f"{row + 1}" for row in range(inputs)]
    shade = np.where(attention_mask, REAL, 0.0).tolist()
    mask = attention_mask.astype(int).tolist()
    rows: dict[str, list[tuple[str, float, str]]] = {}
    for row, number in enumerate(numbers):
        rows[f"tokens {number}"] = [(token, share, "") for token, share in zip(tokens[row], shade[row], strict=True)]
    for row, number in enumerate(numbers):
        rows[f"ids {number}"] = [(str(id), share, "") for id, share in zip(ids[row].tolist(), shade[row], strict=True)]
    for row, number in enumerate(numbers):
        rows[f"mask {number}"] = [(str(one), LOOKED_AT * one, "") for one in mask[row]]
    empty = np.flatnonzero(~attention_mask.all(axis=0))  # columns with padding
    edge = None if not len(empty) else int(empty[0] or empty[-1])
    columns = [str(place) for place in range(width)]
    shown = word_grid("input", columns, list(rows), list(rows.values()), edge, range(width)) | {"alt": _alt(attention_mask)}
    table: dict[str, Column] = {
        "input": np.repeat(np.arange(1, inputs + 1), width),
        "position": np.tile(np.arange(width), inputs),
        "token": [token for row in tokens for token in row],
        "id": ids.ravel(),
        "attention_mask": attention_mask.astype(int).ravel(),
    }
    return keep(shown, lambda: columns_of(**table))


def _alt(attention_mask: np.ndarray) -> str:
    """The text alternative of the rectangle."""
    inputs, width = attention_mask.shape
    each = [f"input {row} has {int(mask.sum())} tokens" for row, mask in enumerate(attention_mask, start=1)]
    empty = int((~attention_mask).sum())
    return f"A rectangle of {inputs} × {width}: {', '.join(each)}; the mask is 0 in the {empty} other places."
