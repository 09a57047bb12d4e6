"""Pairs of sentences out of what a person pastes or uploads."""

import csv
import io
import re
from collections.abc import Sequence

from explorer.base.errors import InputError

MOST_PAIRS = 100
SEPARATOR = re.compile(r"\t|\s*\|\|+\s*")
HEADINGS = (("a", "b"), ("text_a", "text_b"), ("sentence1", "sentence2"), ("premise", "hypothesis"))

Pair = tuple[str, str]


def pairs_from_lines(text: str) -> list[Pair]:
    """One pair a line, its two sentences set apart by a tab or by ||. Raises InputError naming the line that is not."""
    pairs = []
    for number, line in enumerate(str(text or "").splitlines(), start=1):
        if not line.strip():
            continue
        parts = SEPARATOR.split(line.strip())
        if len(parts) != 2:
            raise InputError(f"Line {number} has no two sentences; put a tab or || between A and B.")
        pairs.append((parts[0].strip(), parts[1].strip()))
    return checked(pairs, "line")


def pairs_from_csv(content: bytes) -> list[Pair]:
    """The first two columns of a CSV, or those called A and B (text_a, sentence1, ...). Raises InputError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("The file is not in UTF-8; save it as CSV in UTF-8.") from error
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError("The file cannot be read as CSV; check its quotes.") from error
    if not rows or len(rows[0]) < 2:
        raise InputError("The file needs two columns, A and B, with commas between them.")
    names = [cell.strip().lower() for cell in rows[0]]
    first, second = 0, 1
    for heading in HEADINGS:
        if set(heading) <= set(names):
            first, second = (names.index(name) for name in heading)
            rows = rows[1:]
            break
    short = next((number for number, row in enumerate(rows, start=1) if len(row) <= max(first, second)), None)
    if short:
        raise InputError(f"Row {short} of the file has no second sentence; give it both.")
    return checked([(row[first].strip(), row[second].strip()) for row in rows], "row")


def checked(pairs: Sequence[Pair], what: str) -> list[Pair]:
    """The pairs that are not wholly empty. Raises InputError when there are too many, none, or half of one."""
    kept = [pair for pair in pairs if any(pair)]
    if not 1 <= len(kept) <= MOST_PAIRS:
        raise InputError(f"There must be 1 to {MOST_PAIRS} pairs, not {len(kept)}.")
    for number, (a, b) in enumerate(kept, start=1):
        if not a or not b:
            raise InputError(f"The pair in {what} {number} has one sentence; give it both.")
    return kept
