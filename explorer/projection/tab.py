"""The tab Projection: maps of words or sentences in the space of a layer."""

from typing import Any

from explorer.projection.map import Map
from explorer.projection.two_models import TwoModels
from explorer.text.lines import read_lines
from explorer.ui.programs import Values, as_typed, program
from explorer.ui.subject import Subject
from explorer.ui.tabs import Tab


def sentences(view: Any, subject: Subject) -> Values:
    texts, _ = read_lines(view.sentences)
    return {"texts": as_typed(subject, *texts), "layer": min(view.layer, subject.model.capabilities.layers)}


TAB = Tab(
    "projection",
    "Projection",
    "What lies close to what?",
    {"Map": [[Map]], "Two models or layers": [[TwoModels]]},
    reads_texts=False,
    programs={"projection/map": program("map", "sentences", "layer", "dimensions", "search", "picked", values=sentences)},
)
