"""Scripts of the Next sentence tab: the head's answer for one pair or many."""

from typing import Any

from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.writing import Script


def many(view: Any, subject: Subject) -> Script | None:
    """All pairs of the table."""
    pairs = [tuple(Names(subject.model).texts(*pair)) for pair in view.asked(subject)]
    return Script("pairs.py", pairs=pairs)


CODE = {"next-sentence/pair": Script("pair.py"), "next-sentence/pairs": many}
