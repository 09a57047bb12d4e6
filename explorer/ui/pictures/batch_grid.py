"""A batch as the model reads it: a rectangle of tokens, ids and attention mask."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.word_grid import word_grid

REAL, LOOKED_AT = 0.15, 0.45  # how dark real tokens and the ones of the mask are; [PAD] and 0 have the page's background


def batch_grid(tokens: Sequence[Sequence[str]], ids: np.ndarray, attention_mask: np.ndarray, mark: bool = True) -> dict[str, Any]:
    """The `words` component's value for tokens, ids and attention mask [inputs, tokens]: three rows for each input.

    With `mark` the column where padding begins is marked, so that a picture that is too wide opens there.
    """
    inputs, width = ids.shape
    shade = np.where(attention_mask, REAL, 0.0).tolist()
    texts: dict[str, tuple[Any, Any]] = {  # [inputs, tokens] each, with how dark the cells are
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
    edge = int(empty[0]) if mark and len(empty) else None
    columns = [str(place) for place in range(width)]
    each = ", ".join(f"input {row} has {int(mask.sum())} tokens" for row, mask in enumerate(attention_mask, start=1))
    alt = f"A rectangle of {inputs} × {width}: {each}; the mask is 0 in the {int((~attention_mask).sum())} other places."
    shown = word_grid("input", columns, list(rows), list(rows.values()), edge, range(width)) | {"alt": alt}
    table: dict[str, Any] = {
        "input": np.repeat(np.arange(1, inputs + 1), width),
        "position": np.tile(np.arange(width), inputs),
        "token": [token for row in tokens for token in row],
        "id": ids.ravel(),
        "attention_mask": attention_mask.astype(int).ravel(),
    }
    return keep(shown, lambda: columns_of(**table))
