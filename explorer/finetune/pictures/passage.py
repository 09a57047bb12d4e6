"""A text with a part of it marked."""

from typing import Any

from explorer.ui.pictures.numbers import Table, keep


def passage(text: str, start: int, end: int) -> dict[str, Any]:
    """The component's value for a text with the characters [start, end) marked; none if both are equal.

    Raises ValueError when they are outside the text.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"there are no characters {start} to {end} in a text of {len(text)}")
    shown = {"before": text[:start], "marked": text[start:end], "after": text[end:]}
    return keep(shown, lambda: Table.of(("start", "end", "marked", "text"), [[start, end, text[start:end], text]]))
