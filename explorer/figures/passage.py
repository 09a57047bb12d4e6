"""A text with a part of it marked."""

from typing import Any

from explorer.figures.numbers import Table, keep


def passage(text: str, start: int, end: int) -> dict[str, Any]:
    """The value for a text of which characters [start, end) are marked; none where both are alike.

    Raises ValueError when they are not in the text.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"there are no characters {start} to {end} in a text of {len(text)}")
    shown = {"before": text[:start], "marked": text[start:end], "after": text[end:]}
    return keep(shown, lambda: Table.of(("start", "end", "marked", "text"), [[start, end, text[start:end], text]]))
