"""Checks of everything that comes in, before anything is computed; each raises an InputError that says what to do.

Layers and heads count from 1 outside and from 0 inside; `layer_index` and `head_index` convert them.
"""

import textwrap
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, CUTS, TEXTS, Limit
from explorer.text.characters import has_visible_characters

MOST_PLACES = 10_000_000  # larger than any picture
LISTED = 110  # characters of the choices in a sentence


def check_text(text: object, name: str = "the text", limit: Limit = CHARACTERS) -> str:
    """The text unchanged, if a tokenizer can take it and something in it is visible."""
    if not isinstance(text, str):
        raise InputError(f"{_capitalize(name)} must be a text. Send a sentence.")
    limit.check(len(text), name)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{_capitalize(name)} contains half a character (a lone surrogate). Paste the text again.") from error
    if not has_visible_characters(text):
        raise InputError(f"{_capitalize(name)} is empty. Type a sentence.")
    return text


def check_optional_text(text: object, name: str, limit: Limit = CHARACTERS) -> str:
    """Like `check_text`, but None and invisible texts are allowed and become ''."""
    if text is None or (isinstance(text, str) and len(text) <= limit.most and not has_visible_characters(text)):
        return ""
    return check_text(text, name, limit)


def check_texts(texts: object, limit: Limit = TEXTS) -> list[str]:
    """A list of texts, at least one and at most `limit`. The error names the first one that cannot be used."""
    texts = check_list(texts, "Send the texts as a list of sentences.")
    if not texts:
        raise InputError("The list has no texts. Give at least one sentence.")
    limit.check(len(texts), "texts")
    return [check_text(text, f"text {number}") for number, text in enumerate(texts, start=1)]


def is_list(value: object, *lengths: int) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list, of one of these lengths if some are given; a text is none."""
    return isinstance(value, Sequence) and not isinstance(value, str) and (not lengths or len(value) in lengths)


def check_list(value: object, refusal: str, *lengths: int) -> Sequence[Any]:
    """A list, of one of these lengths if some are given; other values are refused with this sentence."""
    if is_list(value, *lengths):
        return value
    raise InputError(refusal)


def check_integer(value: object, name: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    if is_number(value) and low <= value <= high and (isinstance(value, Integral) or float(value).is_integer()):
        return int(value)
    raise InputError(f"{_capitalize(name)} must be a whole number from {low} to {high}, not {_show(value)}.")


def check_place(value: object) -> int:
    """The zero-based index of something clicked, in a row of unknown length."""
    return check_integer(value, "the place", 0, MOST_PLACES)


def check_cell(value: object) -> tuple[int, int]:
    """The zero-based row and column of a clicked cell, in a table of unknown size."""
    row, column = check_list(value, "Click a cell of the picture; it has a row and a column.", 2)
    return check_place(row), check_place(column)


def check_number(value: object, name: str, low: float, high: float) -> float:
    """A finite number from `low` to `high`, both included."""
    if is_number(value) and low <= (value if isinstance(value, int) else float(value)) <= high:
        return float(value)
    raise InputError(f"{_capitalize(name)} must be a number from {low:g} to {high:g}, not {_show(value)}.")


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """One of `choices`; the error lists them."""
    if isinstance(value, str) and value in choices:
        return value
    listed = textwrap.shorten(", ".join(choices), LISTED, placeholder=" and others")
    raise InputError(f"{_capitalize(name)} must be one of {listed}, not {_show(value)}.")


def hidden_state_index(layer: object, layers: int, first: int = 0) -> int:
    """The index of a hidden state: 0 for the embeddings, k for the output of layer k, -1 for the last one."""
    return layers if is_number(layer) and layer == -1 else check_integer(layer, "the layer", first, layers)


def layer_index(layer: object, layers: int) -> int:
    """The zero-based index of layer `layer`, counted from 1; -1 is the last one."""
    return hidden_state_index(layer, layers, 1) - 1


def head_index(head: object, heads: int) -> int:
    """The zero-based index of head `head`, counted from 1."""
    return check_integer(head, "the head", 1, heads) - 1


def head_indices(pairs: object, layers: int, heads: int) -> list[tuple[int, int]]:
    """Zero-based (layer, head) for a list of [layer, head] counted from 1, without repeats."""
    if not is_list(pairs) or len(pairs) > layers * heads or not all(is_list(pair, 2) for pair in pairs):
        raise InputError(f"Send the heads as a list of at most {layers * heads} pairs [layer, head], such as [[1, 1]].")
    return list(dict.fromkeys((layer_index(layer, layers), head_index(head, heads)) for layer, head in pairs))


def cut_weights(cuts: object, layers: int, heads: int, tokens: int) -> list[tuple[int, int, int, int | None]]:
    """Zero-based (layer, query, key, head or None for all) for a list of [layer, query, key, head], without repeats.

    Layers and heads count from 1, tokens from 0, and head 0 means all heads of the layer.
    """
    if not is_list(cuts) or not all(is_list(cut, 4) for cut in cuts[: CUTS.most + 1]):
        raise InputError("Send the cuts as a list of [layer, query, key, head], such as [[1, 3, 2, 0]]; head 0 is all heads.")
    CUTS.check(len(cuts), "cuts")
    found = []
    for layer, query, key, head in cuts:
        index, last = layer_index(layer, layers), tokens - 1
        places = check_integer(query, "the query", 0, last), check_integer(key, "the key", 0, last)
        found.append((index, *places, head_index(head, heads) if check_integer(head, "the head", 0, heads) else None))
    return list(dict.fromkeys(found))


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number of Python or NumPy; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _show(value: object) -> str:
    """A value as it was sent, short enough for a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr("".join(letter if letter.isprintable() else " " for letter in value[:40]))
    if isinstance(value, bool) or (is_number(value) and not abs(value) > 1e15):
        return str(value)
    return "a number that large" if is_number(value) else "a list or an object"


def _capitalize(name: str) -> str:
    return name[:1].upper() + name[1:]
