"""Drawings that are walked through in steps: boxes, arrows, and at each step a sentence and what it is about."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from explorer.ui.pictures.numbers import Table, keep

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A box of the drawing; lengths are in units of the drawing, which is as wide as the page lets it.

    `kind` is "part", "word", "state", "frame" (dashed, around others), or "title" (text alone). One with a `pick` can be clicked.
    """

    id: str
    x: float
    y: float
    width: float
    height: float
    label: str = ""
    kind: str = "part"
    pick: int | None = None


@dataclass(frozen=True)
class Arrow:
    """An arrow from one point to another, bent sideways by `bend` units."""

    id: str
    start: Point
    end: Point
    bend: float = 0.0


@dataclass(frozen=True)
class Step:
    """One step: what is told, the ids of the boxes and arrows it is about, and labels that boxes have from here on."""

    text: str
    lit: Sequence[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    title: str = ""  # if set, one can jump here


def stepped(size: Point, boxes: Sequence[Box], arrows: Sequence[Arrow], steps: Sequence[Step], alt: str) -> dict[str, Any]:
    """The `stepped` component's value for a drawing of this (width, height). Raises ValueError for an id that is not drawn."""
    known = {one.id for one in boxes} | {one.id for one in arrows}
    if unknown := {name for step in steps for name in (*step.lit, *step.labels)} - known:
        raise ValueError(f"there is no {min(unknown)!r} in the drawing")
    shown = {
        "width": size[0],
        "height": size[1],
        "boxes": [asdict(box) for box in boxes],
        "arrows": [asdict(arrow) for arrow in arrows],
        "steps": [{**asdict(step), "lit": list(step.lit), "labels": dict(step.labels)} for step in steps],
        "alt": alt,
    }
    rows = [[number, one.title or None, one.text] for number, one in enumerate(steps, start=1)]
    return keep(shown, lambda: Table.of(("step", "part", "text"), rows))
