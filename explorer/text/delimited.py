"""Records of delimited texts: clevercsv finds the delimiter; quotes that never close are found here."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from explorer.core.lazy import clevercsv
from explorer.core.limits import CELL_LINES, COLUMNS, TABLE_MEGABYTES

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
SAMPLE, STRETCH = 12_000, 60  # characters shown to clevercsv; its work is quadratic in a stretch without delimiters and quotes
LOOKED_AT = 20  # lines of a quoted cell that are read as rows, to see whether they are
ONE_COLUMN = "\x1f"  # a delimiter that no text contains
LINES_COMPARED = 200  # lines in which delimiters are compared where clevercsv finds none
EVEN = 0.9  # share of the rows that must have one length for that
MOST_LOOSE = 500  # quotes that open a cell and are not closed, beyond which all quotes are characters
NAMED_ROWS = 5  # rows named in a note
KNOWN_SHARE, FEW = 0.25, 5  # of different values, and how many of them, up to which a column is taken for labels

_STRETCH = re.compile(rf"([^\t,;|\"'\\\r\n]{{{STRETCH}}})[^\t,;|\"'\\\r\n]+")
_SEP = re.compile(r'"?sep=([\t,;|])"?\r?\n?', re.IGNORECASE)
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB

Record = list[str]
NUMBERS: set[str] = set()  # of a column: any number


@dataclass(frozen=True)
class Dialect:
    """How records are written. The quote is "" where quotation marks are mere characters."""

    delimiter: str
    quote: str = '"'
    escape: str = ""

    def read(self, lines: Iterable[str], strict: bool = False) -> Iterator[tuple[Record, int]]:
        """The records of some lines, each with the number of lines read so far. Raises csv.Error where strict."""
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            escapechar=self.escape or None,
            quoting=quoting,
            strict=strict,
        )
        for row in reader:
            yield row, reader.line_num

    @property
    def plain(self) -> "Dialect":
        """The same, but with quotation marks as characters."""
        return Dialect(self.delimiter, "", self.escape if not self.quote else "")


@dataclass
class Records:
    """The records of a text, and sentences on what was guessed; `numbers` in these count records from 1, the names included."""

    rows: list[Record]
    delimiter: str
    notes: list[str] = field(default_factory=list)


def read_records(text: str) -> Records:
    """The records of a delimited text, without blank ones. A quote that is never closed counts as a character."""
    told = _SEP.match(text)
    text = text[told.end() :] if told else text
    lines = list(io.StringIO(text, newline=""))
    dialect = _dialect(text, lines, told[1] if told else "")
    reading = _Reading(lines, dialect)
    rows = reading.records()
    notes = [f"The first line, sep={told[1]}, names the delimiter and is skipped."] if told else []
    return Records(rows, DELIMITERS.get(dialect.delimiter, "one column"), [*notes, *reading.notes()])


def _dialect(text: str, lines: Sequence[str], told: str) -> Dialect:
    """The delimiter, unless told, by clevercsv from a sample; the quotes by whether all lines keep to them."""
    sample = _sample(lines)
    among = [told] if told else [one for one in DELIMITERS if one in sample]
    found = clevercsv.Detector().detect(sample, delimiters=among)
    delimiter = told or (found and found.delimiter) or _most_even(lines[:LINES_COMPARED], among)
    if not told and _widths(lines[:LINES_COMPARED], delimiter).most_common(1)[0][0] == 1:
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
    doubled, escaped = Dialect(delimiter, quote), Dialect(delimiter, quote, "\\")
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
    closed = sum(cell != quote and cell.endswith(quote) and quote not in _unquoted(cell, quote) for cell in opened)
    if width > 1 and most > 0.98 * len(rows) and closed < len(opened) / 2:
        return plain
    text = "".join(lines)
    return escaped if text.count("\\" + quote) > text.count(2 * quote) else doubled


class _Reading:
    """The reading of lines in a dialect: a quote that opens a cell and seems never closed is read as a character."""

    def __init__(self, lines: Sequence[str], dialect: Dialect) -> None:
        self.lines, self.dialect = lines, dialect
        self.budget = 2 * len(lines) + 1_000  # lines that may be read again
        self.cell_lines = CELL_LINES.most + 1
        self.loose: list[int] = []  # numbers of the records whose quote was never closed
        self.wide: list[int] = []  # numbers of the records with delimiters and line breaks in one cell
        self.columns: list[set[str] | None] = []  # for each column its values, if they are few

    def records(self) -> list[Record]:
        """All records that are not blank."""
        if not self.dialect.quote:
            self.loose = [number for number, row in enumerate(self._plain(), 1) if any(c.startswith('"') for c in row)]
            return self._plain()
        self.columns = _columns([row for row, _ in islice(self._single(), 5_000)])
        rows: list[Record] = []
        start = 0
        while start < len(self.lines):
            start = self._read_from(start, rows)
            if self.budget < 0 or len(self.loose) > MOST_LOOSE:
                self.dialect = self.dialect.plain
                return self.records()
        return rows

    def _plain(self) -> list[Record]:
        return [row for row, _ in self.dialect.read(self.lines) if any(cell.strip() for cell in row)]

    def _single(self) -> Iterator[tuple[Record, int]]:
        """The records of one line."""
        last = 0
        for row, number in self.dialect.read(self.lines):
            if number == last + 1 and any(row):
                yield row, number
            last = number

    def _read_from(self, start: int, rows: list[Record]) -> int:
        """Read records up to the first with a loose quote, or to the end; the line to go on from."""
        last = start
        following = (self.lines[number] for number in range(start, len(self.lines)))
        for row, number in self.dialect.read(following):
            end = start + number
            if end - last > 1 and self._is_loose(last, end):
                self.budget -= end - last + 1
                rows.append(self._as_row(self.lines[last]))
                self.loose.append(len(rows))
                return last + 1
            if any(cell.strip() for cell in row):
                rows.append(row)
                if end - last > 1 and any("\n" in cell and self.dialect.delimiter in cell for cell in row):
                    self.wide.append(len(rows))
            last = end
        return len(self.lines)

    def _is_loose(self, start: int, end: int) -> bool:
        """Whether lines that a quote makes one record are records of their own."""
        lines = [line for line in self.lines[start : min(end, start + LOOKED_AT)] if line.strip()]
        fits = [self._fits(self._as_row(line)) for line in lines]
        if len(lines) > 1 and fits[0] and sum(fits) >= 0.8 * len(fits):
            return True
        return end - start > self.cell_lines

    def _as_row(self, line: str) -> Record:
        """The cells of a line with quotes as characters; delimiters that are too many belong to the cell with the quote."""
        row = next(self.dialect.plain.read([line]), ([""], 1))[0]
        surplus = len(row) - len(self.columns)
        at = next((place for place, cell in enumerate(row) if cell.startswith(self.dialect.quote)), None)
        if surplus > 0 and at is not None:
            row[at : at + surplus + 1] = [self.dialect.delimiter.join(row[at : at + surplus + 1])]
        return [_unquoted(cell, self.dialect.quote) for cell in row]

    def _fits(self, row: Record) -> bool:
        """Whether a row is like the others: as long, and with their labels where they have some."""
        if len(row) != len(self.columns) or len(row) < 2:
            return False
        told = [values for values in self.columns if values is not None]
        if not told and self.dialect.delimiter != "\t":
            return False
        return all(_is_among(cell, values) for cell, values in zip(row, self.columns, strict=True))

    def notes(self) -> list[str]:
        """Sentences on quotes that were read as characters, and on cells that may have swallowed rows."""
        notes = []
        if self.loose:
            notes.append(f"A quotation mark opens a cell and is not closed in {_rows(self.loose)}: it is read as a character.")
        if self.wide:
            name = DELIMITERS.get(self.dialect.delimiter, "delimiter")
            notes.append(f"A quoted cell contains {name}s and line breaks in {_rows(self.wide)}: check its quotation marks.")
        return notes


def _columns(rows: Sequence[Record]) -> list[set[str] | None]:
    """For each column of the most frequent width its values, if they are few, or NUMBERS; None for texts."""
    if not rows:
        return []
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if width > COLUMNS.most:
        return []
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    found: list[set[str] | None] = []
    for cells in columns:
        values = Counter(cell.strip() for cell in cells)
        repeated = {value for value, count in values.items() if count > 1}
        if repeated and len(values) <= max(FEW, KNOWN_SHARE * len(cells)):
            found.append(repeated)
        else:
            found.append(NUMBERS if sum(map(_is_number, cells)) >= 0.9 * len(cells) else None)
    return found


def _is_among(cell: str, values: set[str] | None) -> bool:
    """Whether a cell may belong to a column of these values."""
    if values is None:
        return bool(cell.strip())
    return _is_number(cell) if values is NUMBERS else cell.strip() in values


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _unquoted(cell: str, quote: str) -> str:
    """A cell without the quotes around it, if it has both."""
    inside = cell[1:-1]
    return inside.replace(2 * quote, quote) if len(cell) > 1 and cell[0] == cell[-1] == quote else cell


def _rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    named = [f"{number:,}" for number in numbers[:NAMED_ROWS]]
    if (more := len(numbers) - len(named)) > 0:
        named.append(f"{more:,} others")
    return f"row {named[0]}" if len(named) == 1 else f"rows {', '.join(named[:-1])} and {named[-1]}"
