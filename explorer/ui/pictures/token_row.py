"""Tokens as chips, or as cards with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.text.encoding import Encoding
from explorer.ui.pictures.base import MOST_AT_ONCE
from explorer.ui.pictures.numbers import columns_of, keep


@dataclass(frozen=True)
class Numbers:
    """What cards show besides the segment, one entry per token; a column that is None is left out.

    `offsets` are the characters [start, end) of each token, shown as the first and the last, counted from 1.
    """

    ids: Sequence[int] | None = None
    positions: Sequence[int] | None = None
    attention_mask: Sequence[int] | None = None
    offsets: Sequence[tuple[int, int]] | None = None


def token_row(
    tokens: Sequence[str],
    kinds: Sequence[str],
    segments: Sequence[int],
    numbers: Numbers = Numbers(),
    hints: Sequence[str] | None = None,
    selected: int | None = None,
) -> dict[str, Any]:
    """The component's value for `tokens`: all sequences have one entry per token; `selected` is zero-based.

    A hint appears when its token is pointed at.
    """
    known = {"segment": segments, "id": numbers.ids, "attention_mask": numbers.attention_mask}
    if numbers.offsets is not None:
        known |= {"start": [span[0] for span in numbers.offsets], "end": [span[1] for span in numbers.offsets]}
    said = {name: column for name, column in known.items() if column is not None}
    shown = {
        "tokens": list(tokens),
        "kinds": list(kinds),
        "segments": _integers(segments),
        "letters": len(set(segments)) > 1,
        "ids": _integers(numbers.ids),
        "positions": _integers(numbers.positions),
        "mask": _integers(numbers.attention_mask),
        "chars": None if numbers.offsets is None else [_characters(*span) for span in numbers.offsets],
        "hints": None if hints is None else list(hints),
        "long": len(tokens) > MOST_AT_ONCE,
        "selected": None if selected is None else int(selected),
    }
    return keep(shown, lambda: columns_of(position=range(len(tokens)), token=tokens, kind=kinds, **said))


def token_row_of(encoding: Encoding, selected: int | None = None, detail: bool = False) -> dict[str, Any]:
    """The component's value for an input as the model reads it; with `detail`, all numbers of the cards."""
    numbers = Numbers(encoding.ids, encoding.positions, encoding.attention_mask, encoding.offsets)
    return token_row(
        encoding.tokens, encoding.kinds, encoding.segments, numbers if detail else Numbers(), encoding.hints, selected
    )


def _integers(column: Sequence[int] | None) -> list[int] | None:
    return None if column is None else [int(entry) for entry in column]


def _characters(start: int, end: int) -> str:
    if end <= start:
        return "–"
    return str(start + 1) if end == start + 1 else f"{start + 1}–{end}"
