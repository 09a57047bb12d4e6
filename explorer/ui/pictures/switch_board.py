"""A board of layers × heads as switches."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from explorer.ui.pictures.numbers import Table, keep


def switch_board(
    layers: int,
    heads: int,
    off: Collection[tuple[int, int]] = (),
    effects: Sequence[Sequence[float]] | np.ndarray | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    scale: tuple[str, str, str] | None = None,
) -> dict[str, Any]:
    """The component's value; `off` are zero-based heads, `effects` [layers][heads] go from -1 (lowers) to 1 (raises).

    `effects` are None if unknown; `notes` describe them in words. `scale` is what is measured, with its value at an effect of
    -1 and of 1. Raises ValueError when shapes do not fit.
    """
    for name, rows in (("effects", effects), ("notes", notes)):
        if rows is not None and [len(row) for row in rows] != [heads] * layers:
            raise ValueError(f"{name} must be {layers} rows of {heads}")
    if any(not (0 <= layer < layers and 0 <= head < heads) for layer, head in off):
        raise ValueError(f"there are {layers} × {heads} heads (zero-based), not {sorted(off)}")
    shown = {
        "layers": layers,
        "heads": heads,
        "off": [[int(layer), int(head)] for layer, head in off],
        "effects": None if effects is None else [[round(float(effect), 4) for effect in row] for row in effects],
        "notes": None if notes is None else [list(row) for row in notes],
        "scale": scale,
    }
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    return keep(shown, lambda: Table.of(("layer", "head", "off"), [[x + 1, y + 1, (x, y) in off] for x, y in places]))
