"""Texts as points on a plane, in the colours of their classes, with the regions of a classifier and a text that is tried."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from explorer.ui.pictures.numbers import Table, keep

MOST_POINTS = 2_000  # that are drawn; the others of a larger set are left out, evenly


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
    """All points at one moment of a film."""

    text: str
    places: np.ndarray  # [points, 2]


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
    sends instead of its index. `rings` mark some for the reason `ringed`, `faint` lets some fade, and `picked` is one that stands
    out. With `even` both axes have the same scale, and names are as long as there is room.
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
    picked: int | None = None
    links: Sequence[Link] = ()
    even: bool = False
    hulls: bool = False
    regions: Regions | None = None
    star: Star | None = None
    frames: Sequence[Frame] = field(default=())


def draw_map(what: TextMap, alt: str, plays: bool = False) -> dict[str, Any]:
    """The component's value; `alt` says in words what the picture shows. A film that `plays` starts by itself."""
    count = len(what.texts)
    rows = np.unique(np.linspace(0, max(0, count - 1), min(count, MOST_POINTS)).round().astype(int))
    points = [
        {
            "text": what.texts[row],
            "label": int(what.labels[row]),
            "x": round(float(what.places[row, 0]), 4),
            "y": round(float(what.places[row, 1]), 4),
            "ring": bool(what.rings[row]) if len(what.rings) else False,
            "faint": bool(what.faint[row]) if len(what.faint) else False,
            "note": what.notes[row] if len(what.notes) else "",
            "context": what.contexts[row] if len(what.contexts) else ("", ""),
            "index": int(what.rows[row]) if len(what.rows) else place,
        }
        for place, row in enumerate(rows)
    ]
    value = {
        "classes": list(what.classes),
        "points": points,
        "hulls": what.hulls,
        "ringed": what.ringed,
        "picked": what.picked,
        "links": [asdict(link) for link in what.links],
        "even": what.even,
        "regions": what.regions
        and {"origin": what.regions.origin.round(5).tolist(), "directions": what.regions.directions.round(5).tolist()},
        "star": what.star and asdict(what.star),
        "frames": [{"text": frame.text, "places": frame.places[rows].round(4).tolist()} for frame in what.frames],
        "plays": plays,
        "left_out": count - len(points),
        "alt": alt,
    }
    return keep(value, lambda: _table(what))


def _table(what: TextMap) -> Table:
    classes = [what.classes[label] for label in what.labels]
    rings = list(what.rings) or [False] * len(what.texts)
    columns = (list(what.texts), classes, what.places[:, 0].tolist(), what.places[:, 1].tolist(), rings)
    return Table.of(("text", "class", "x", "y", "marked"), list(zip(*columns, strict=True)))
