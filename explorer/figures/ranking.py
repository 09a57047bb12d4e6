"""Texts with a number each."""

from collections.abc import Sequence
from typing import Any


def ranking(heading: str, rows: Sequence[tuple[int, str, str]], note: str = "") -> dict[str, Any]:
    """The value for rows of (index, text, number as it is to be read); the note stands below them."""
    listed = [{"index": int(index), "text": text, "number": number} for index, text, number in rows]
    return {"heading": heading, "rows": listed, "note": note}
