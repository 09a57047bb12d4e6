"""Texts typed line by line: sentences, sentences with a label, pairs of sentences."""

import re

from explorer.core.errors import InputError
from explorer.text.characters import has_visible_characters
from explorer.text.pairs import Pair, check_pairs

NO_LABEL = "(no label)"
SEPARATOR = re.compile(r"\t|\|\|+")


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


def pairs_from_lines(typed: str | None, text_a: str = "") -> list[Pair]:
    """One pair per line, its two sentences separated by a tab or by ||; a single sentence is a B for `text_a`, if there is one.

    Raises InputError naming the first invalid line.
    """
    pairs = []
    for number, line in enumerate((typed or "").splitlines(), start=1):
        if not line.strip():
            continue
        parts = SEPARATOR.split(line.strip())
        if len(parts) == 1 and text_a.strip():
            parts = [text_a, *parts]
        if len(parts) != 2:
            raise InputError(f"Line {number} has no two sentences; put a tab or || between A and B.")
        pairs.append((parts[0].strip(), parts[1].strip()))
    return check_pairs(pairs, "line")
