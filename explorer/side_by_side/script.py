"""Side by side: the same question to two models, or of two inputs."""

from typing import Any

from explorer.side_by_side.guesses import GUESSES
from explorer.ui.names import Names
from explorer.ui.statements import Source
from explorer.ui.subject import Subject
from explorer.ui.view import View
from explorer.ui.writing import Script


def _both(name: str, view: Any, subject: Subject, **values: Any) -> Script:
    """The script of both sides; with one model, `other_model` is that one."""
    there, is_one = view.other(subject), view.is_one_model(subject)
    names = Names(there.model, at="other_model")
    text_a, text_b = names.texts(there.text_a, there.text_b)
    sides = {"other_a": text_a, "other_b": text_b or None, "is_one": is_one, "is_other_whole": names.is_whole}
    place = {"OTHER": Source(names.place)}
    return Script(name, None if is_one else names, **sides, **place, **values)


def pieces(view: View, subject: Subject) -> Script | None:
    """Both rows of pieces."""
    return _both("pieces.py", view, subject)


def guesses(view: Any, subject: Subject) -> Script | None:
    """The best guesses for the blank, on both sides."""
    both = subject, view.other(subject)
    if not all(one.model.capabilities.fill_mask and one.trace.mask_positions for one in both):
        return None
    return _both("guesses.py", view, subject, top_k=GUESSES, blank_here=both[0].blank, blank_there=both[1].blank)


def pair(view: Any, subject: Subject) -> Script | None:
    """The next-sentence head's answers on both sides."""
    both = subject, view.other(subject)
    if not all(one.model.capabilities.next_sentence and one.text_b.strip() for one in both):
        return None
    return _both("pair.py", view, subject)


def attention(view: Any, subject: Subject) -> Script | None:
    """The same head on both sides, and the difference."""
    there = view.other(subject)
    layer, head = there.selection.attention_layer + 1, there.selection.head_index + 1
    as_long = subject.trace.kept == there.trace.kept
    return _both("attention.py", view, subject, other_layer=layer, other_head=head, as_long=as_long)


def states(view: Any, subject: Subject) -> Script | None:
    """The distance between the tokens at each position of both sides, at every hidden state."""
    if not view.is_one_model(subject) or subject.trace.kept != view.other(subject).trace.kept:
        return None
    return _both("states.py", view, subject)


CODE = {
    "side-by-side/pieces": pieces,
    "side-by-side/guesses": guesses,
    "side-by-side/pair": pair,
    "side-by-side/attention": attention,
    "side-by-side/states": states,
}
WITHOUT = {"side-by-side/swaps": "It offers words to click and computes nothing."}
