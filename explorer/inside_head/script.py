"""The program of a layer, step by step."""

from typing import Any

from explorer.ui.attention_data import telling_of
from explorer.ui.programs import Values, programs
from explorer.ui.subject import Subject


def query(view: Any, subject: Subject) -> Values:
    """The token that the page opens with."""
    found = telling_of(subject).query
    return {"token": subject.token if subject.selection.token is not None or found is None else found}


program = programs(__file__)
PROGRAMS = {"inside-head/layer": program("layer"), "inside-head/dots": program("layer", values=query)}
