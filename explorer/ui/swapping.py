"""Swaps: which words of an input may be replaced by which."""

from explorer.techniques.filling import alternatives
from explorer.text.swaps import find_swaps, put
from explorer.ui.long_view import is_quick
from explorer.ui.subject import Subject

Swap = tuple[str, str, str]  # a label, and both texts after the swap


def usual_swaps(subject: Subject) -> list[Swap]:
    """Swaps of words of the input with usual counterparts, wherever they occur."""
    a, b = subject.text_a, subject.text_b
    found = [(f"{word} → {other}", text, put(b, word, other)) for word, other, text in find_swaps(a)]
    return found + [(f"{word} → {other}", a, text) for word, other, text in find_swaps(b)]


def guessed_words(subject: Subject) -> tuple[str, list[str]]:
    """The selected word, if it is a single piece, and the model's three best guesses for its place; else '' and none."""
    token = subject.selection.token
    if token is None or not subject.model.capabilities.fill_mask or not is_quick(subject, 1):
        return "", []
    encoding = subject.trace.encoding
    side, (start, end) = encoding.sequences[token], encoding.offsets[token]
    if side < 0 or [token] not in encoding.text_words:
        return "", []
    others = subject.trace.once(("alternatives", token), lambda: alternatives(subject.trace, token, 3))
    return (subject.text_a, subject.text_b)[side][start:end], others


def fitting_swaps(subject: Subject, most: int) -> list[tuple[str, str]]:
    """(word, other word) with equally many pieces, at most `most`, starting with the selected word."""
    word, others = guessed_words(subject)
    usual = [(one, other) for text in (subject.text_a, subject.text_b) for one, other, _ in find_swaps(text)]
    fitting: list[tuple[str, str]] = []
    for one, other in dict.fromkeys([*((word, other) for other in others), *usual]):
        words = all(any(map(str.isalnum, each)) for each in (one, other))  # swapping punctuation shows nothing
        if words and len(fitting) < most and subject.can_swap(one, other):
            fitting.append((one, other))
    return fitting
