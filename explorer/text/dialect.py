"""The dialect of a delimited text: clevercsv finds the delimiter, and all lines decide about the quotes."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from explorer.core.lazy import clevercsv

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
SAMPLE, STRETCH = 12_000, 60  # characters shown to clevercsv; its work is quadratic in a stretch without delimiters and quotes
ONE_COLUMN = "\x1f"  # a delimiter that no text contains
LINES_COMPARED = 200  # lines in which delimiters are compared where clevercsv finds none
EVEN = 0.9  # share of the rows that must have one length for that
_STRETCH = re.compile(rf"([^\t,;|\"'\\\r\n]{{{STRETCH}}})[^\t,;|\"'\\\r\n]+")

Record = list[str]


@dataclass(frozen=True)
class Dialect:
    """How records are written. The quote is "" where quotation marks are mere characters."""

    delimiter: str
    quote: str = '"'
    escape: str = ""
    spaced: bool = False  # a space follows each delimiter, before the quote

    def read(self, lines: Iterable[str], strict: bool = False) -> Iterator[tuple[Record, int]]:
        """The records of some lines, each with the number of lines read so far. Raises csv.Error where strict."""
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            escapechar=self.escape or None,
            quoting=quoting,
            skipinitialspace=self.spaced,
            strict=strict,
        )
        for row in reader:
            yield row, reader.line_num

    @property
    def plain(self) -> "Dialect":
        """The same, but with quotation marks as characters."""
        return Dialect(self.delimiter, "", self.escape if not self.quote else "", self.spaced)


def find_dialect(text: str, lines: Sequence[str], told: str) -> Dialect:
    """The delimiter, unless told, by clevercsv from a sample; the quotes by whether all lines keep to them."""
    sample = _sample(lines)
    among = [told] if told else [one for one in DELIMITERS if one in sample]
    found = clevercsv.Detector().detect(sample, delimiters=among)
    delimiter = told or (found and found.delimiter) or _most_even(lines[:LINES_COMPARED], among)
    widths = _widths(lines[:LINES_COMPARED], delimiter).most_common(1)
    if not told and (not widths or widths[0][0] == 1):
        return Dialect(ONE_COLUMN)
    if found and found.quotechar == "'" and _encloses("'", lines[:LINES_COMPARED], delimiter):
        return _quoting(lines, delimiter, "'")
    if '"' not in text:
        return Dialect(delimiter, "", (found and found.escapechar) or "")
    return _quoting(lines, delimiter, '"')


def _most_even(lines: Sequence[str], among: Sequence[str]) -> str:
    """The delimiter that makes rows of one length, where clevercsv finds none; else one that makes one column."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = _widths(lines, delimiter)
        width, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        return (rows / max(1, widths.total()) if width > 1 else 0.0), width

    best = max(among, key=score, default=ONE_COLUMN)
    return best if best != ONE_COLUMN and score(best)[0] >= EVEN else ONE_COLUMN


def _widths(lines: Sequence[str], delimiter: str) -> Counter[int]:
    """How many records have how many cells."""
    return Counter(len(row) for row, _ in _quoting(lines, delimiter, '"').read(lines) if any(row))


def _encloses(quote: str, lines: Sequence[str], delimiter: str) -> bool:
    """Whether every second line or more has a cell between these quotes."""
    rows = [row for row, _ in Dialect(delimiter, "").read(lines) if any(row)]
    inside = [any(len(cell) > 1 and cell.strip()[:1] == cell.strip()[-1:] == quote for cell in row) for row in rows]
    return sum(inside) >= 0.5 * len(rows)


def _sample(lines: Sequence[str]) -> str:
    """The first lines, and then lines with quotation marks, in which every long stretch of letters is cut short."""
    size = 0
    taken: list[str] = []
    quoted = (line for line in islice(lines, 1_000, None) if '"' in line)
    for line in (*islice(lines, 1_000), *islice(quoted, 100)):
        short = _STRETCH.sub(r"\1", line[: 4 * SAMPLE])[:SAMPLE]
        if size + len(short) > SAMPLE and taken:
            break
        taken.append(short)
        size += len(short)
    return "".join(taken)


def _quoting(lines: Sequence[str], delimiter: str, quote: str) -> Dialect:
    """The first way of quoting that all lines keep to; if there is none, that of most."""
    spaced = any(f"{quote}{delimiter} {quote}" in line for line in lines[:LINES_COMPARED])
    doubled, escaped = Dialect(delimiter, quote, "", spaced), Dialect(delimiter, quote, "\\", spaced)
    for dialect in (doubled, escaped):
        try:
            for _ in dialect.read(lines, strict=True):
                pass
        except csv.Error:
            continue
        return dialect
    plain = doubled.plain
    rows = [row for row, _ in plain.read(lines) if any(row)]
    widths = Counter(map(len, rows))
    width, most = widths.most_common(1)[0]
    opened = [cell for row in rows for cell in row if cell.startswith(quote)]
    closed = sum(cell != quote and cell.endswith(quote) and quote not in unquoted(cell, quote) for cell in opened)
    if width > 1 and most > 0.98 * len(rows) and closed < len(opened) / 2:
        return plain
    text = "".join(lines)
    return escaped if text.count("\\" + quote) > text.count(2 * quote) else doubled


def unquoted(cell: str, quote: str) -> str:
    """A cell without the quotes around it, if it has both."""
    inside = cell[1:-1]
    return inside.replace(2 * quote, quote) if len(cell) > 1 and cell[0] == cell[-1] == quote else cell
