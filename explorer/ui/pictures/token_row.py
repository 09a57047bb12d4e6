"""Tokens as chips, or as cards with their numbers."""

from collections.abc import Sequence
from typing import Any

from explorer.text.encoding import Encoding
from explorer.ui.pictures.base import MOST_AT_ONCE
from explorer.ui.pictures.numbers import columns_of, keep


def token_row_of(
    encoding: Encoding, selected: int | None = None, detail: bool = False, tokens: Sequence[str] = ()
) -> dict[str, Any]:
    """The component's value for an input as the model reads it; `selected` is a zero-based position.

    With `detail`, it has the numbers of the cards: characters count from 1. `tokens` take the place of the input's own, without
    the hints that appear when a token is pointed at.
    """
    shown, mask = tokens or encoding.tokens, encoding.attention_mask
    columns: dict[str, Any] = {"position": range(len(shown)), "token": shown, "kind": encoding.kinds}
    columns["segment"] = encoding.segments
    if detail:
        starts, ends = zip(*encoding.offsets, strict=True)
        columns |= {"id": encoding.ids, "attention_mask": mask, "start": starts, "end": ends}
    value = {
        "tokens": list(shown),
        "kinds": list(encoding.kinds),
        "segments": list(map(int, encoding.segments)),
        "letters": len(set(encoding.segments)) > 1,
        "ids": list(map(int, encoding.ids)) if detail else None,
        "positions": list(map(int, encoding.positions)) if detail else None,
        "mask": list(map(int, mask)) if detail else None,
        "chars": [_characters(*span) for span in encoding.offsets] if detail else None,
        "hints": None if tokens else list(encoding.hints),
        "long": len(shown) > MOST_AT_ONCE,
        "selected": None if selected is None else int(selected),
    }
    return keep(value, lambda: columns_of(**columns))


def _characters(start: int, end: int) -> str:
    if end <= start:
        return "–"
    return str(start + 1) if end == start + 1 else f"{start + 1}–{end}"
