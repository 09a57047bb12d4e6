"""Texts typed line by line: sentences, and sentences with a label."""

from explorer.core.errors import InputError
from explorer.text.characters import has_visible_characters

NO_LABEL = "(no label)"


def split_lines(typed: str | None) -> list[str]:
    """The lines that are not empty, without surrounding whitespace."""
    return [line.strip() for line in (typed or "").splitlines() if has_visible_characters(line)]


def read_lines(typed: str | None) -> tuple[list[str], list[str]]:
    """The sentences of the non-empty lines, and the label that may follow each after a |.

    Raises InputError when there are none.
    """
    lines = split_lines(typed)
    if not lines:
        raise InputError("There are no sentences; type one a line.")
    parts = [line.rpartition("|") if "|" in line else (line, "", "") for line in lines]
    return [text.strip() for text, _, _ in parts], [label.strip() or NO_LABEL for _, _, label in parts]
