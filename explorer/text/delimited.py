"""The records of a delimited text. clevercsv finds the delimiter, and all lines decide what a quotation mark is.

Quotes may never be closed, and texts without quotes may contain the delimiter.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from explorer.core.lazy import clevercsv
from explorer.core.limits import COLUMNS, TABLE_MEGABYTES

CELL_LINES = 50  # of a quoted cell: beyond them its quote was never closed, and is a mere letter
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
ONE_COLUMN = "\x1f"  # a delimiter that no text contains
SAMPLE, STRETCH = 12_000, 60  # characters shown to clevercsv; its work is quadratic in a stretch without delimiters and quotes
COMPARED = 200  # lines in which delimiters and quotes are counted
EVEN = 0.9  # share of the rows that must have one length where clevercsv finds no delimiter
LOOKED_AT = 20  # lines of a quoted cell that are read as rows, to see whether they are
MOST_LOOSE = 500  # quotes that open a cell and are not closed, beyond which all quotes are characters
LEARNED_FROM = 5_000  # records that show which values a column has
KNOWN_SHARE, FEW = 0.25, 5  # of different values, and how many of them, up to which a column is taken for labels
MOST_TITLES = 5  # lines above a table
NAMED_ROWS = 5  # rows named in a note

_SEP = re.compile(r'"?sep=([\t,;|])"?\r?\n?', re.IGNORECASE)
_STRETCH = re.compile(rf"([^\t,;|\"'\\\r\n]{{{STRETCH}}})[^\t,;|\"'\\\r\n]+")
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB

Record = list[str]
Values = set[str] | None
"""The values of a column if they are few, NUMBERS, or None for texts."""
NUMBERS: set[str] = set()


class Records(NamedTuple):
    """The records of a text, and sentences on what was guessed, which count records from 1."""

    rows: list[Record]
    delimiter: str
    notes: list[str]


def read_records(text: str) -> Records:
    """The records of a delimited text, without blank ones. A quote that is never closed counts as a character."""
    named = _SEP.match(text)
    lines = list(io.StringIO(text[named.end() :] if named else text, newline=""))
    reading = _Reading(lines, find_dialect(lines, named[1] if named else ""))
    rows = reading.records()
    notes = [f"The first line, sep={named[1]}, names the delimiter and is skipped."] if named else []
    if titles := _titles(rows):
        notes.append(f"{'The first line' if titles == 1 else f'The first {titles} lines'} above the table skipped.")
    return Records(rows[titles:], DELIMITERS.get(reading.dialect.delimiter, "one column"), [*notes, *reading.notes()])


def _titles(rows: Sequence[Record]) -> int:
    """The number of lines above the table: a title or a comment, in one cell where the others have several."""
    titles = next((number for number, row in enumerate(rows) if len(row) > 1), 0)
    return titles if _usual_width(rows) > 1 and titles <= MOST_TITLES else 0


def _usual_width(rows: Iterable[Record]) -> int:
    """The number of cells that most rows have."""
    [(width, _)] = Counter(map(len, rows)).most_common(1) or [(1, 0)]
    return width


# The dialect.


@dataclass(frozen=True)
class Dialect:
    """How records are written. The quote is "" where quotation marks are mere characters."""

    delimiter: str
    quote: str = '"'
    escape: str = ""
    spaced: bool = False  # a space follows each delimiter, before the quote

    def read(self, lines: Iterable[str], strict: bool = False) -> Iterator[tuple[Record, int]]:
        """The records of some lines, each with the number of lines read so far. Raises csv.Error where strict."""
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            escapechar=self.escape or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=self.spaced,
            strict=strict,
        )
        for row in reader:
            yield row, reader.line_num

    def rows(self, lines: Iterable[str]) -> list[Record]:
        """The records that are not blank."""
        return [row for row, _ in self.read(lines) if any(row)]

    @property
    def plain(self) -> "Dialect":
        """The dialect with quotation marks as characters."""
        return replace(self, quote="", escape="")


def find_dialect(lines: Sequence[str], named: str) -> Dialect:
    """The delimiter, unless named, by clevercsv from a sample; the quotes by whether all lines keep to them."""
    sample = _sample(lines)
    among = [named] if named else [delimiter for delimiter in DELIMITERS if delimiter in sample]
    found = clevercsv.Detector().detect(sample, delimiters=among)
    delimiter = named or (found and found.delimiter) or _most_even(lines[:COMPARED], among)
    if not named and _usual_width(_quoting(lines[:COMPARED], delimiter, '"').rows(lines[:COMPARED])) == 1:
        return Dialect(ONE_COLUMN)
    if found and found.quotechar == "'" and _encloses("'", Dialect(delimiter, "").rows(lines[:COMPARED])):
        return _quoting(lines, delimiter, "'")
    if not any('"' in line for line in lines):
        return Dialect(delimiter, "", (found and found.escapechar) or "")
    return _quoting(lines, delimiter, '"')


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


def _most_even(lines: Sequence[str], among: Sequence[str]) -> str:
    """The delimiter that makes rows of one length, where clevercsv finds none; else one that makes one column."""

    def evenness(delimiter: str) -> tuple[float, int]:
        rows = _quoting(lines, delimiter, '"').rows(lines)
        count, width = max(((count, width) for width, count in Counter(map(len, rows)).items()), default=(0, 1))
        return (count / len(rows) if width > 1 else 0.0), width

    best = max(among, key=evenness, default="")
    return best if best and evenness(best)[0] >= EVEN else ONE_COLUMN


def _encloses(quote: str, rows: Sequence[Record]) -> bool:
    """Whether every second row or more has a cell between these quotes."""
    enclosed = [any(len(cell.strip()) > 1 and cell.strip()[0] == cell.strip()[-1] == quote for cell in row) for row in rows]
    return sum(enclosed) >= 0.5 * len(rows)


def _quoting(lines: Sequence[str], delimiter: str, quote: str) -> Dialect:
    """The first way of quoting that all lines keep to; if there is none, that of most."""
    spaced = any(f"{quote}{delimiter} {quote}" in line for line in lines[:COMPARED])
    doubled, escaped = (Dialect(delimiter, quote, escape, spaced) for escape in ("", "\\"))
    for dialect in (doubled, escaped):
        try:
            for _ in dialect.read(lines, strict=True):
                pass
        except csv.Error:
            continue
        return dialect
    rows = doubled.plain.rows(lines)
    width, most = Counter(map(len, rows)).most_common(1)[0]
    opened = [cell for row in rows for cell in row if cell.startswith(quote)]
    closed = sum(cell != quote and cell.endswith(quote) and quote not in _unquote(cell, quote) for cell in opened)
    if width > 1 and most > 0.98 * len(rows) and closed < len(opened) / 2:
        return doubled.plain
    text = "".join(lines)
    return escaped if text.count("\\" + quote) > text.count(2 * quote) else doubled


def _unquote(cell: str, quote: str) -> str:
    """A cell without the quotes around it, if it has both."""
    inside = cell[1:-1]
    return inside.replace(2 * quote, quote) if len(cell) > 1 and cell[0] == cell[-1] == quote else cell


# The records.


class _Reading:
    """The reading of lines in a dialect: a quote that opens a cell and seems never closed is read as a character."""

    def __init__(self, lines: Sequence[str], dialect: Dialect) -> None:
        self.lines, self.dialect = lines, dialect
        self.loose: list[int] = []  # numbers of the records whose quote was never closed
        self.wide: list[int] = []  # numbers of the records with delimiters and line breaks in one cell
        self.joined: list[int] = []  # numbers of the records with a delimiter too many
        self.columns: list[Values] = []

    def records(self) -> list[Record]:
        """All records that are not blank."""
        if self.dialect.quote:
            self.columns = _values_of_columns(list(islice(self._single_lines(), LEARNED_FROM)))
            rows = self._quoted_records()
            if len(self.loose) <= MOST_LOOSE:
                return self._with_joined(rows)
            self.dialect, self.wide = self.dialect.plain, []
        rows = [row for row, _ in self.dialect.read(self.lines) if any(cell.strip() for cell in row)]
        self.columns = _values_of_columns(rows[:LEARNED_FROM])
        self.loose = [number for number, row in enumerate(rows, 1) if any(cell.startswith('"') for cell in row)]
        return self._with_joined(rows)

    def _single_lines(self) -> Iterator[Record]:
        """The records of one line each."""
        last = 0
        for row, number in self.dialect.read(self.lines):
            if number == last + 1 and any(row):
                yield row
            last = number

    def _quoted_records(self) -> list[Record]:
        """The records, up to the last of too many with a loose quote."""
        rows: list[Record] = []
        start = 0
        while start < len(self.lines) and len(self.loose) <= MOST_LOOSE:
            following = self.lines[start : start + CELL_LINES + 2]
            row, taken = next(self.dialect.read(following))
            if taken > 1 and self._is_loose(following[:taken]):
                row, taken = self._as_row(following[0]), 1
                self.loose.append(len(rows) + 1)
            elif taken > 1 and any("\n" in cell and self.dialect.delimiter in cell for cell in row):
                self.wide.append(len(rows) + 1)
            if any(cell.strip() for cell in row):
                rows.append(row)
            start += taken
        return rows

    def _is_loose(self, lines: Sequence[str]) -> bool:
        """Whether lines that a quote makes one record are records of their own."""
        fits = [self._fits(self._as_row(line)) for line in lines[:LOOKED_AT] if line.strip()]
        return (len(fits) > 1 and fits[0] and sum(fits) >= 0.8 * len(fits)) or len(lines) > CELL_LINES + 1

    def _as_row(self, line: str) -> Record:
        """The cells of a line with quotes as characters; delimiters that are too many belong to the cell with the quote."""
        row = next(self.dialect.plain.read([line]), ([""], 1))[0]
        surplus = len(row) - len(self.columns)
        at = next((place for place, cell in enumerate(row) if cell.startswith(self.dialect.quote)), None)
        if surplus > 0 and at is not None:
            row = self._join(row, at, surplus)
        return [_unquote(cell, self.dialect.quote) for cell in row]

    def _join(self, row: Record, at: int, surplus: int) -> Record:
        """The row with the cell at a place joined to as many after it."""
        end = at + surplus + 1
        return [*row[:at], self.dialect.delimiter.join(row[at:end]), *row[end:]]

    def _fits(self, row: Record) -> bool:
        """Whether a row is like the others: as long, and with their labels where they have some."""
        if len(row) != len(self.columns) or len(row) < 2:
            return False
        if all(values is None for values in self.columns) and self.dialect.delimiter != "\t":
            return False
        return all(_is_among(cell, values) for cell, values in zip(row, self.columns, strict=True))

    def _with_joined(self, rows: list[Record]) -> list[Record]:
        """Records as wide as most, where two or more cells of one are a text with delimiters."""
        if all(values is None for values in self.columns):
            return rows
        for index, row in enumerate(rows):
            surplus = len(row) - len(self.columns)
            ways = (self._join(row, at, surplus) for at in range(len(self.columns))) if surplus > 0 else ()
            if found := next(filter(self._fits, ways), None):
                rows[index] = found
                self.joined.append(index + 1)
        return rows

    def notes(self) -> list[str]:
        """Sentences on quotes that were read as characters, and on cells that may have swallowed rows."""
        name = DELIMITERS.get(self.dialect.delimiter, "delimiter")
        sentences = (
            (self.loose, "A quotation mark opens a cell and is not closed in {}: it is read as a character."),
            (self.wide, f"A quoted cell contains {name}s and line breaks in {{}}: check its quotation marks."),
            (self.joined, "A text without quotation marks contains the delimiter in {}: its cells are joined."),
        )
        return [sentence.format(_list_rows(numbers)) for numbers, sentence in sentences if numbers]


def _values_of_columns(rows: Sequence[Record]) -> list[Values]:
    """What each column of the usual number of columns holds."""
    if not rows or (width := _usual_width(rows)) > COLUMNS.most:
        return []
    found: list[Values] = []
    for cells in zip(*(row for row in rows if len(row) == width), strict=True):
        counts = Counter(cell.strip() for cell in cells)
        repeated = {value for value, count in counts.items() if count > 1}
        if repeated and len(counts) <= max(FEW, KNOWN_SHARE * len(cells)):
            found.append(repeated)
        else:
            found.append(NUMBERS if sum(map(_is_number, cells)) >= 0.9 * len(cells) else None)
    return found


def _is_among(cell: str, values: Values) -> bool:
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


def _list_rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    named = [f"{number:,}" for number in numbers[:NAMED_ROWS]]
    if (more := len(numbers) - len(named)) > 0:
        named.append(f"{more:,} others")
    return f"row {named[0]}" if len(named) == 1 else f"rows {', '.join(named[:-1])} and {named[-1]}"
