"""Which of our components draws a part, by its kind: in the app (`explorer/page/components.py`), in files and on phones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Component:
    """The JavaScript component that draws a kind of part: its name, the classes of its box, and its options."""

    name: str
    classes: str
    options: Mapping[str, Any] = field(default_factory=dict)


COMPONENTS = {
    "chart": Component("PlotlyChart", "bx bx-chart", {"label": "", "height": 400, "hides_empty": False}),
    "flow": Component("Flow", "bx bx-flow"),
    "head_grid": Component("HeadGrid", "bx bx-by-head bx-heads"),
    "lines": Component("AttentionLines", "bx bx-lines", {"height": None}),
    "tokens": Component(
        "TokenRow", "bx bx-tokens", {"detail": False, "mask_on_click": False, "with_window": False, "passive": False}
    ),
    "strips": Component("StripTable", "bx bx-strips", {"height": 640, "sortable": False}),
    "bars": Component("Bars", "bx bx-bars"),
    "words": Component("WordGrid", "bx bx-words"),
    "ranking": Component("Ranking", "bx bx-ranking"),
    "board": Component("SwitchBoard", "bx bx-by-head bx-board"),
    "passage": Component("Passage", "bx bx-passage"),
    "architecture": Component("Architecture", "bx bx-architecture"),
    "sentence": Component("Notice", "bx bx-notice", {"keep_height": False}),
    "check": Component("Notice", "bx bx-notice", {"keep_height": False}),
}
