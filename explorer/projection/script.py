"""The program of a map of sentences by their principal components."""

from typing import Any

from explorer.text.lines import read_lines
from explorer.ui.programs import Values, programs, typed
from explorer.ui.subject import Subject

COLOURED = ("search", "picked")  # settings that move no point


def sentences(view: Any, subject: Subject) -> Values:
    """The sentences that were typed, and the hidden state."""
    texts, _ = read_lines(view.sentences)
    return {"texts": typed(subject, *texts), "layer": min(view.layer, subject.model.capabilities.layers)}


program = programs(__file__)
PROGRAMS = {"projection/map": program("map", "sentences", "layer", "dimensions", *COLOURED, values=sentences)}
