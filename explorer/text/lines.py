"""Sentences that were typed, one a line."""

from explorer.base.errors import InputError

NO_LABEL = "(no label)"


def read_lines(typed: str | None) -> tuple[list[str], list[str]]:
    """The sentence of every line that is not empty, and the label that may follow it after a |. Raises InputError."""
    lines = [line for line in (typed or "").splitlines() if line.strip()]
    if not lines:
        raise InputError("There are no sentences; type one a line.")
    pairs = [line.rpartition("|") if "|" in line else (line, "", "") for line in lines]
    return [text.strip() for text, _, _ in pairs], [label.strip() or NO_LABEL for _, _, label in pairs]
