"""Pairs of sentences, and the files they come in."""

from collections.abc import Sequence
from pathlib import Path

from explorer.core.errors import InputError
from explorer.core.limits import LARGE, MEGABYTE, PAIRS, Limit
from explorer.text.names import PAIRS as HEADINGS
from explorer.text.names import normal
from explorer.text.tables import Row, read_table

FILE_MEGABYTES = Limit(1, LARGE)

Pair = tuple[str, str]
"""Two texts that BERT reads together, as text A and text B; the second is '' when there is only one."""


def read_pairs(path: Path) -> list[Pair]:
    """The pairs in a CSV, TSV or JSON-lines file: its first two columns, or those named A and B (text_a, sentence1, ...).

    Raises InputError when the file is too large or cannot be read, or naming a row that is not a pair.
    """
    FILE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    table = read_table(path)
    table = table.with_names(_heading(table.first) is not None)
    if len(table.columns) < 2:
        raise InputError("The file needs two columns, A and B, with commas between them.")
    first, second = _heading(table.columns) or (0, 1)
    return check_pairs([(row[first].strip(), row[second].strip()) for row in table.rows], "row")


def check_pairs(pairs: Sequence[Pair], what: str) -> list[Pair]:
    """The pairs that are not entirely empty. Raises InputError when there are none or too many, or one of them is half empty."""
    kept = [pair for pair in pairs if any(pair)]
    if not 1 <= len(kept) <= PAIRS.most:
        raise InputError(PAIRS.tell(len(kept), "pairs"))
    for number, pair in enumerate(pairs, start=1):
        if any(pair) and not all(pair):
            raise InputError(f"The pair in {what} {number} has one sentence; give it both.")
    return kept


def _heading(cells: Row) -> tuple[int, int] | None:
    """The indices of the columns of A and B, if the cells name them."""
    names = [normal(cell) for cell in cells]
    return next(((names.index(a), names.index(b)) for a, b in HEADINGS if {a, b} <= set(names)), None)
