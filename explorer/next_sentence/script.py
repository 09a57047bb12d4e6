"""Programs: whether B follows A, for one pair or many."""

from typing import Any

from explorer.next_sentence.pairs import _pairs_of
from explorer.ui.programs import Values, programs, typed
from explorer.ui.subject import Subject


def pairs(view: Any, subject: Subject) -> Values:
    """All pairs of the table."""
    return {"pairs": [tuple(typed(subject, *pair)) for pair in _pairs_of(view.pairs)]}


program = programs(__file__)
PROGRAMS = {"next-sentence/pair": program("pair"), "next-sentence/pairs": program("pairs", "lines", values=pairs)}
