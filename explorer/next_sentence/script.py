"""Programs: whether B follows A, for one pair or many."""

from typing import Any

from explorer.ui.programs import Values, programs, typed
from explorer.ui.subject import Subject


def pairs(view: Any, subject: Subject) -> Values:
    """All pairs of the table."""
    return {"pairs": [tuple(typed(subject, *pair)) for pair in view.asked(subject)]}


program = programs(__file__)
PROGRAMS = {"next-sentence/pair": program("pair"), "next-sentence/pairs": program("pairs", "pairs", "candidates", values=pairs)}
