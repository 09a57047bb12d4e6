"""Texts typed line by line: sentences, sentences with a label, pairs of sentences."""

import re
from collections.abc import Sequence

from explorer.core.errors import InputError
from explorer.core.limits import PAIRS
from explorer.text.characters import has_visible_characters

NO_LABEL = "(no label)"
SEPARATOR = re.compile(r"\t|\|\|+")

Pair = tuple[str, str]
"""Two texts that BERT reads together, as text A and text B; the second is '' when there is only one."""


def split_lines(typed: str | None) -> list[str]:
    return [line.strip() for line in (typed or "").splitlines() if has_visible_characters(line)]


def read_lines(typed: str | None) -> tuple[list[str], list[str]]:
    """The sentences of the lines that are not empty, and the label that may follow each after a |. Raises InputError for none."""
    lines = split_lines(typed)
    if not lines:
        raise InputError("No sentences yet. Type one per line.")
    parts = [line.rpartition("|") if "|" in line else (line, "", "") for line in lines]
    return [text.strip() for text, _, _ in parts], [label.strip() or NO_LABEL for _, _, label in parts]


def pairs_from_lines(typed: str | None, text_a: str = "") -> list[Pair]:
    """One pair per line, separated by a tab or ||; a single sentence is a B for `text_a`. Raises InputError naming the line."""
    pairs = []
    for number, line in enumerate((typed or "").splitlines(), start=1):
        if not line.strip():
            continue
        parts = SEPARATOR.split(line.strip())
        if len(parts) == 1 and text_a.strip():
            parts = [text_a, *parts]
        if len(parts) != 2:
            raise InputError(f"Line {number} is not a pair. Put a tab or || between A and B.")
        pairs.append((parts[0].strip(), parts[1].strip()))
    return check_pairs(pairs, "line")


def check_pairs(pairs: Sequence[Pair], what: str) -> list[Pair]:
    """The pairs that are not entirely empty. Raises InputError when there are none or too many, or one of them is half empty."""
    kept = [pair for pair in pairs if any(pair)]
    if not 1 <= len(kept) <= PAIRS.most:
        raise InputError(PAIRS.tell(len(kept), "pairs"))
    for number, pair in enumerate(pairs, start=1):
        if any(pair) and not all(pair):
            raise InputError(f"The pair in {what} {number} has only one sentence. Add the other one.")
    return kept


def around(text: str, start: int, end: int, letters: int = 12) -> tuple[str, str]:
    """The whole words among so many letters before and after [start, end), with dots where the text goes on."""
    before, after = text[:start], text[end:]
    if len(before) > letters:
        before = f"…{before[-letters:].partition(' ')[2]}"
    if len(after) > letters:
        after = f"{after[:letters].rpartition(' ')[0]}…"
    return before, after
