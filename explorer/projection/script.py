"""Scripts of the Projection tab: the vectors of a map, and their principal components."""

from typing import Any

from explorer.projection.map import FILE, SENTENCES
from explorer.projection.points import SAMPLED_PIECES
from explorer.text.lines import read_lines
from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.writing import Script

MOST_WRITTEN = 200  # texts of a file


def chart(view: Any, subject: Subject) -> Script | None:
    """The points of the map."""
    texts: list[str] = []
    if view.source in (SENTENCES, FILE):
        if view.source == FILE and view.table is None:
            return None
        texts, _ = read_lines(view.sentences) if view.source == SENTENCES else view._read_table()
        if len(texts) > MOST_WRITTEN:
            return None
    layer, typed = min(view.layer, subject.model.capabilities.layers), Names(subject.model).texts(*texts)
    return Script("map.py", layer=layer, typed=typed, most=SAMPLED_PIECES)


CODE = {"projection/map": chart}
