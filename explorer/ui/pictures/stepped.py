"""Drawings that are walked through in steps: boxes, arrows, and at each step a sentence and what it is about."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.ui.pictures.numbers import Table, keep

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A box of the drawing; lengths are in units of the drawing, which is as wide as the page lets it."""

    id: str
    x: float
    y: float
    width: float
    height: float
    label: str = ""
    kind: str = "word"  # or "note" (without a frame) or "title" (text alone, from the left)


@dataclass(frozen=True)
class Arrow:
    """An arrow from one point to another at the same x, bent sideways by `bend` units."""

    id: str
    start: Point
    end: Point
    bend: float


@dataclass(frozen=True)
class Step:
    """One step: a sentence, and the ids of the boxes and arrows it is about."""

    text: str
    lit: Sequence[str]
    title: str = ""  # if set, one can jump here


def stepped(size: Point, boxes: Sequence[Box], arrows: Sequence[Arrow], steps: Sequence[Step], alt: str) -> dict[str, Any]:
    """The `stepped` component's value for a drawing of this (width, height)."""
    shown = {
        "width": size[0],
        "height": size[1],
        "boxes": [asdict(box) for box in boxes],
        "arrows": [asdict(arrow) for arrow in arrows],
        "steps": [{**asdict(step), "lit": list(step.lit)} for step in steps],
        "alt": alt,
    }
    rows = [[number, step.title or None, step.text] for number, step in enumerate(steps, start=1)]
    return keep(shown, lambda: Table.of(("step", "part", "text"), rows))
