"""The records of a delimited text. clevercsv finds the delimiter, and all lines decide what a quotation mark is.

Quotes may never be closed, and texts without quotes may contain the delimiter.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

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


def read_records(text: str) -> tuple[list[Record], str, list[str]]:
    """The records of a delimited text without blank ones, the delimiter's name, and sentences on what was guessed.

    The sentences count records from 1. A quote that is never closed counts as a character.
    """
    named = _SEP.match(text)
    lines = list(io.StringIO(text[named.end() :] if named else text, newline=""))
    dialect = find_dialect(lines, named[1] if named else "")
    reading = _Reading(lines, dialect)
    if len(reading.loose) > MOST_LOOSE:
        reading = _Reading(lines, dialect.plain)
    rows = reading.rows
    notes = [f"The first line, sep={named[1]}, names the delimiter and is skipped."] if named else []
    if titles := _titles(rows):
        notes.append(f"{'The first line' if titles == 1 else f'The first {titles} lines'} above the table skipped.")
    return rows[titles:], DELIMITERS.get(dialect.delimiter, "one column"), [*notes, *reading.notes()]


def _titles(rows: Sequence[Record]) -> int:
    """The number of lines above the table: a title or a comment, in one cell where the others have several."""
    titles = next((number for number, row in enumerate(rows) if len(row) > 1), 0)
    return titles if usual_width(rows)[0] > 1 and titles <= MOST_TITLES else 0


def usual_width(rows: Sequence[Record]) -> tuple[int, float]:
    """The number of cells that most rows have, and the share of these rows."""
    [(width, count)] = Counter(map(len, rows)).most_common(1) or [(1, 0)]
    return width, count / max(1, len(rows))


def number_of(cell: str) -> float | None:
    """A cell as a finite number: with a decimal point or comma, thousands set apart by the other, or a percent sign."""
    cell = cell.strip().removesuffix("%")
    if "," in cell:
        thousands, decimals = (",", ".") if cell.rfind(".") > cell.rfind(",") else (".", ",")
        cell = cell.replace(thousands, "").replace(decimals, ".")
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number."""
    return number_of(cell) is not None


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
    first = lines[:COMPARED]
    sample = _STRETCH.sub(r"\1", "".join(first)[: 10 * SAMPLE])[:SAMPLE]
    among = [named] if named else [delimiter for delimiter in DELIMITERS if delimiter in sample]
    found = clevercsv.Detector().detect(sample, delimiters=among)
    delimiter = named or (found and found.delimiter) or next((one for one in among if _is_even(first, one)), ONE_COLUMN)
    if not named and usual_width(_quoting(first, delimiter, '"').rows(first))[0] == 1:
        return Dialect(ONE_COLUMN)
    single = found and found.quotechar == "'" and any(f"{delimiter}'" in line or line.startswith("'") for line in first)
    quote = "'" if single else '"'
    if not any(quote in line for line in lines):
        return Dialect(delimiter, "", (found and found.escapechar) or "")
    return _quoting(lines, delimiter, quote)


def _is_even(lines: Sequence[str], delimiter: str) -> bool:
    """Whether a delimiter makes rows of one length."""
    width, share = usual_width(_quoting(lines, delimiter, '"').rows(lines))
    return width > 1 and share >= EVEN


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
    width, share = usual_width(rows)
    opened = [cell for row in rows for cell in row if cell.startswith(quote)]
    closed = sum(quote not in _unquote(cell, quote) for cell in opened)
    if width > 1 and share > 0.98 and closed < len(opened) / 2:
        return doubled.plain
    text = "".join(lines)
    return escaped if text.count("\\" + quote) > text.count(2 * quote) else doubled


def _unquote(cell: str, quote: str) -> str:
    """A cell without the quotes around it, if it has both."""
    return cell[1:-1].replace(2 * quote, quote) if quote and len(cell) > 1 and cell[0] == cell[-1] == quote else cell


class _Reading:
    """The reading of lines in a dialect: a quote that opens a cell and seems never closed is read as a character."""

    def __init__(self, lines: Sequence[str], dialect: Dialect) -> None:
        self.lines, self.dialect = lines, dialect
        self.loose: list[int] = []  # numbers of the records whose quote was never closed
        self.wide: list[int] = []  # numbers of the records with delimiters and line breaks in one cell
        self.joined: list[int] = []  # numbers of the records with a delimiter too many
        self.columns = _conditions(list(islice(self._single_lines(), LEARNED_FROM)))
        self.rows = self._records()

    def _single_lines(self) -> Iterator[Record]:
        """The records of one line each."""
        last = 0
        for row, number in self.dialect.read(self.lines):
            if number == last + 1 and any(row):
                yield row
            last = number

    def _records(self) -> list[Record]:
        """The records that are not blank, up to the last of too many with a loose quote."""
        rows: list[Record] = []
        start = 0
        while start < len(self.lines) and (len(self.loose) <= MOST_LOOSE or not self.dialect.quote):
            following = self.lines[start : start + CELL_LINES + 2]
            row, taken = next(self.dialect.read(following))
            start += taken
            number = len(rows) + 1
            if taken > 1 and self._is_loose(following[:taken]):
                row = self._fit(self._plain(following[0])) or self._plain(following[0])
                start += 1 - taken
                self.loose.append(number)
            elif taken > 1 and any("\n" in cell and self.dialect.delimiter in cell for cell in row):
                self.wide.append(number)
            elif not self.dialect.quote and any(cell.startswith('"') for cell in row):
                self.loose.append(number)
            if len(row) > len(self.columns) and (joined := self._fit(row)):
                row = joined
                self.joined.append(number)
            if any(cell.strip() for cell in row):
                rows.append(row)
        return rows

    def _is_loose(self, lines: Sequence[str]) -> bool:
        """Whether lines that a quote makes one record are records of their own."""
        fits = [self._fit(self._plain(line)) is not None for line in lines[:LOOKED_AT] if line.strip()]
        return (len(fits) > 1 and fits[0] and sum(fits) >= 0.8 * len(fits)) or len(lines) > CELL_LINES + 1

    def _plain(self, line: str) -> Record:
        """The cells of a line with quotes as characters, but for those around a cell."""
        row = next(self.dialect.plain.read([line]), ([""], 1))[0]
        return [_unquote(cell, self.dialect.quote) for cell in row]

    def _fit(self, row: Record) -> Record | None:
        """The row, if it is as long as most and its cells are like theirs; cells that are too many are joined to one of them."""
        surplus = len(row) - len(self.columns)
        if len(self.columns) < 2 or surplus < 0:
            return None
        if all(fits is bool for fits in self.columns) and self.dialect.delimiter != "\t":
            return None
        for place in range(len(self.columns)) if surplus else (0,):
            end = place + surplus + 1
            way = [*row[:place], self.dialect.delimiter.join(row[place:end]), *row[end:]]
            if all(fits(cell.strip()) for cell, fits in zip(way, self.columns, strict=True)):
                return way
        return None

    def notes(self) -> list[str]:
        """Sentences on quotes that were read as characters, and on cells that may have swallowed rows."""
        name = DELIMITERS.get(self.dialect.delimiter, "delimiter")
        sentences = (
            (self.loose, "A quotation mark opens a cell and is not closed in {}: it is read as a character."),
            (self.wide, f"A quoted cell contains {name}s and line breaks in {{}}: check its quotation marks."),
            (self.joined, "A text without quotation marks contains the delimiter in {}: its cells are joined."),
        )
        return [sentence.format(_list_rows(numbers)) for numbers, sentence in sentences if numbers]


def _conditions(rows: Sequence[Record]) -> list[Callable[[str], bool]]:
    """What the cells of each column fulfil: to be one of a few values, a number, or not empty (bool)."""
    if not rows or (width := usual_width(rows)[0]) > COLUMNS.most:
        return []
    found: list[Callable[[str], bool]] = []
    for cells in zip(*(row for row in rows if len(row) == width), strict=True):
        counts = Counter(cell.strip() for cell in cells)
        repeated = {value for value, count in counts.items() if count > 1}
        if repeated and len(counts) <= max(FEW, KNOWN_SHARE * len(cells)):
            found.append(repeated.__contains__)
        else:
            found.append(is_number if sum(map(is_number, cells)) >= 0.9 * len(cells) else bool)
    return found


def _list_rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    named = [f"{number:,}" for number in numbers[:NAMED_ROWS]]
    if (more := len(numbers) - len(named)) > 0:
        named.append(f"{more:,} others")
    return f"row {named[0]}" if len(named) == 1 else f"rows {', '.join(named[:-1])} and {named[-1]}"
