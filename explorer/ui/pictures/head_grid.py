"""A grid of layers × heads: as small pictures, and as a board of switches."""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from explorer.ui.pictures.base import sqrt_bytes, to_base64
from explorer.ui.pictures.numbers import Table, keep


def head_grid(
    thumbnails: np.ndarray,
    selected: tuple[int, int] = (0, 0),
    sqrt: bool = True,
    *,
    notes: Sequence[Sequence[str]] | None = None,
    marks: np.ndarray | None = None,
    off: Collection[tuple[int, int]] = (),
    colours: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The component's value for `thumbnails` [layers, heads, n, n] in 0 to 1; `selected` is (layer, head), zero-based.

    `notes` [layers][heads] are shown when a head is pointed at. `marks` [layers, heads] in 0 to 1 are drawn as bars below the
    pictures, in the `colours` [layers][heads]. The zero-based (layer, head) in `off` are crossed out.
    """
    layers, heads, size, _ = thumbnails.shape
    return {
        "layers": layers,
        "heads": heads,
        "size": size,
        "data": to_base64(sqrt_bytes(thumbnails if sqrt else np.square(thumbnails))),
        "selected": [int(index) for index in selected],
        "notes": None if notes is None else list(chain.from_iterable(notes)),
        "off": [[int(layer), int(head)] for layer, head in off],
        "marks": None if marks is None else np.asarray(marks).ravel().round(3).tolist(),
        "colours": None if colours is None else list(chain.from_iterable(colours)),
    }


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
    -1 and of 1.
    """
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
