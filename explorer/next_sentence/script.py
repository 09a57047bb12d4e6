"""Scripts of the Next sentence tab: the head's answer for one pair or many."""

from typing import Any

from explorer.next_sentence.pairs import _pairs_of
from explorer.text.lines import split_lines
from explorer.ui.names import Names
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def swapped(view: View, subject: Subject) -> Script | None:
    """The pair B, A."""
    text_a, text_b = Names(subject.model).texts(subject.text_b, subject.text_a)
    return Script("pair.py", text_a=text_a, text_b=text_b)


def many(view: Any, subject: Subject) -> Script | None:
    """All pairs of the table."""
    pairs = [tuple(Names(subject.model).texts(*pair)) for pair in _pairs_of(view.pairs)]
    return Script("pairs.py", pairs=pairs)


def candidates(view: Any, subject: Subject) -> Script | None:
    """A with each candidate."""
    b = subject.text_b.strip()
    texts = list(dict.fromkeys([*split_lines(view.candidates), *([b] if b else [])]))
    return Script("candidates.py", candidates=Names(subject.model).texts(*texts))


CODE = {
    "next-sentence/pair": Script("pair.py"),
    "next-sentence/swapped": swapped,
    "next-sentence/pairs": many,
    "next-sentence/candidates": candidates,
}
