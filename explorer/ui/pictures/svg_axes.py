"""What printed charts share: the figure as plain values, where its data lie, and the names along its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from explorer.ui.pictures.numbers import as_typed
from explorer.ui.pictures.svg_marks import FONT, LETTER, shortened, thinned, wide, words

MARGIN, LABEL = 4.0, 78.0  # px: around all, and of the longest name
NOT_DRAWN = "Python does not draw this kind of chart; open the view in the page, whose ⤓ saves its picture."


class Area(NamedTuple):
    """Where the data lie, in px."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Chart:
    """A Plotly figure as plain values."""

    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]

    def titled(self, axis: str) -> str:
        """The title of an axis."""
        return str(as_typed((self.layout.get(axis, {}).get("title") or {}).get("text", ""))).replace("<br>", " ")


def names_across(names: Sequence[str], area: Area, turned: bool) -> list[str]:
    """The names of columns below the data."""
    step, bottom = area.width / len(names), area.top + area.height
    longest = max(map(wide, names))
    found = []
    for place in thinned(len(names), area.width, FONT + 1 if turned else longest + LETTER):
        x = area.left + (place + 0.5) * step
        if turned:
            found.append(words(shortened(names[place], LABEL), x + 0.36 * FONT, bottom + 4, "end", True))
        else:
            found.append(words(names[place], x, bottom + FONT + 3, "middle"))
    return found


def names_down(names: Sequence[str], area: Area) -> list[str]:
    """The names of rows beside the data."""
    step = area.height / len(names)
    places = thinned(len(names), area.height, FONT + 1)
    return [
        words(names[place], area.left - 3, area.top + (place + 0.5) * step + 0.36 * FONT, "end", room=LABEL) for place in places
    ]


def titles(chart: Chart, area: Area, below: float) -> list[str]:
    """The titles of both axes."""
    middle, half = area.left + area.width / 2, area.top + area.height / 2
    across = words(chart.titled("xaxis"), middle, area.top + area.height + below, "middle", room=area.width + LABEL)
    return [across, words(chart.titled("yaxis"), MARGIN + FONT, half, "middle", True, room=area.height)]
