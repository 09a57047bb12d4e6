"""Texts as points on a plane, in the colours of their classes, with the regions of a classifier and a text that is tried."""

import base64
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from explorer.ui.pictures.numbers import Table, keep

FEW = 300  # points that are sent one by one; of more, columns
STEPS = 2**16 - 1  # of a packed place, from the lowest to the highest


@dataclass(frozen=True)
class Pull:
    """Where a text would be without one of its words."""

    word: str
    x: float
    y: float


@dataclass(frozen=True)
class Star:
    """One text that is tried, drawn as a star, and what its words do."""

    text: str
    x: float
    y: float
    pulls: Sequence[Pull] = ()


@dataclass(frozen=True)
class Regions:
    """A score for each class at every place: `origin` + x · the first of `directions` + y · the second; the highest wins."""

    origin: np.ndarray  # [classes]
    directions: np.ndarray  # [2, classes]


@dataclass(frozen=True)
class Frame:
    """All points at one moment of a film, or at one layer."""

    text: str
    places: np.ndarray | None  # [points, 2]; None where the server is asked for them when a person stops there


@dataclass(frozen=True)
class Link:
    """A line between two of the texts, by index, with a text beside it."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class TextMap:
    """Texts with their places [texts, 2] and classes (indices).

    `notes` say something of each, `contexts` are what comes before and after each in its sentence, `rows` what a click on each
    sends instead of its index. `rings` mark some for the reason `ringed`, and `picked` is one that stands out. `faint` lets some
    fade, and with `fits` the others fill the map. With `even` both axes have the same scale, names are as long as there is room,
    and people may zoom. The first `hulls` classes have a hull. The map shows the frame number `frame`, the last if None; points
    that one `glides` through the frames, such as layers, keep their names meanwhile.
    """

    texts: Sequence[str]
    places: np.ndarray
    labels: Sequence[int]
    classes: Sequence[str]
    notes: Sequence[str] = ()
    contexts: Sequence[tuple[str, str]] = ()
    rows: Sequence[int] = ()
    rings: Sequence[bool] = ()
    ringed: str = "mistake"
    faint: Sequence[bool] = ()
    fits: bool = False
    picked: int | None = None
    links: Sequence[Link] = ()
    even: bool = False
    hulls: int = 0
    regions: Regions | None = None
    star: Star | None = None
    frames: Sequence[Frame] = field(default=())
    frame: int | None = None
    glides: bool = False


def draw_map(what: TextMap, alt: str, plays: bool = False) -> dict[str, Any]:
    """The component's value; `alt` says in words what the picture shows. A film that `plays` starts on its own."""
    many = len(what.texts) > FEW
    value = {
        "classes": list(what.classes),
        "points": [] if many else [_point(what, row) for row in range(len(what.texts))],
        "cloud": _cloud(what) if many else None,
        "hulls": what.hulls,
        "ringed": what.ringed,
        "fits": what.fits,
        "picked": what.picked,
        "links": [asdict(link) for link in what.links],
        "even": what.even,
        "regions": what.regions
        and {"origin": what.regions.origin.round(5).tolist(), "directions": what.regions.directions.round(5).tolist()},
        "star": what.star and asdict(what.star),
        "frames": [{"text": frame.text, "places": _write(frame.places, many)} for frame in what.frames],
        "frame": what.frame,
        "glides": what.glides,
        "plays": plays,
        "alt": alt,
    }
    return keep(value, lambda: _table(what))


def _point(what: TextMap, row: int) -> dict[str, Any]:
    return {
        "text": what.texts[row],
        "label": int(what.labels[row]),
        "x": round(float(what.places[row, 0]), 4),
        "y": round(float(what.places[row, 1]), 4),
        "ring": bool(what.rings[row]) if len(what.rings) else False,
        "faint": bool(what.faint[row]) if len(what.faint) else False,
        "note": what.notes[row] if len(what.notes) else "",
        "context": what.contexts[row] if len(what.contexts) else ("", ""),
        "index": int(what.rows[row]) if len(what.rows) else row,
    }


def _cloud(what: TextMap) -> dict[str, Any]:
    """All points as columns: a tenth of the bytes."""
    return {
        "texts": list(what.texts),
        "labels": [int(label) for label in what.labels],
        "places": pack_places(what.places),
        "rows": [int(row) for row in what.rows],
        "rings": np.flatnonzero(what.rings).tolist(),
        "faint": np.flatnonzero(what.faint).tolist(),
    }


def _write(places: np.ndarray | None, many: bool) -> object:
    return None if places is None else pack_places(places) if many else places.round(4).tolist()


def pack_places(places: np.ndarray) -> dict[str, Any]:
    """Places [n, 2] in 16 bits for each coordinate, base64: the error is below 1/100,000 of the map's width."""
    low, high = places.min(axis=0), places.max(axis=0)
    steps = np.rint((places - low) / np.maximum(high - low, 1e-12) * STEPS).astype("<u2")
    return {"data": base64.b64encode(steps.tobytes()).decode(), "low": low.tolist(), "high": high.tolist()}


def _table(what: TextMap) -> Table:
    classes = [what.classes[label] for label in what.labels]
    rings = list(what.rings) or [False] * len(what.texts)
    columns = (list(what.texts), classes, what.places[:, 0].tolist(), what.places[:, 1].tolist(), rings)
    return Table.of(("text", "class", "x", "y", "marked"), list(zip(*columns, strict=True)))
