"""Records of delimited texts, where quotes may be open and texts may contain delimiters."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from explorer.core.limits import COLUMNS, TABLE_MEGABYTES
from explorer.text.dialect import DELIMITERS, Dialect, Record, find_dialect, unquoted

CELL_LINES = 50  # of a quoted cell: beyond them its quote was never closed, and is a mere letter
LOOKED_AT = 20  # lines of a quoted cell that are read as rows, to see whether they are
MOST_LOOSE = 500  # quotes that open a cell and are not closed, beyond which all quotes are characters
LEARNED_FROM = 5_000  # records that show which values a column has
MOST_TITLES = 5  # lines above a table
NAMED_ROWS = 5  # rows named in a note
KNOWN_SHARE, FEW = 0.25, 5  # of different values, and how many of them, up to which a column is taken for labels

_SEP = re.compile(r'"?sep=([\t,;|])"?\r?\n?', re.IGNORECASE)
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB

NUMBERS: set[str] = set()  # of a column: any number


@dataclass
class Records:
    """The records of a text, and sentences on what was guessed, which count records from 1."""

    rows: list[Record]
    delimiter: str
    notes: list[str] = field(default_factory=list)


def read_records(text: str) -> Records:
    """The records of a delimited text, without blank ones. A quote that is never closed counts as a character."""
    told = _SEP.match(text)
    text = text[told.end() :] if told else text
    lines = list(io.StringIO(text, newline=""))
    dialect = find_dialect(text, lines, told[1] if told else "")
    reading = _Reading(lines, dialect)
    rows = reading.records()
    titles = _titles(rows)
    notes = [f"The first line, sep={told[1]}, names the delimiter and is skipped."] if told else []
    if titles:
        notes.append(f"{'The first line' if titles == 1 else f'The first {titles} lines'} above the table skipped.")
    return Records(rows[titles:], DELIMITERS.get(dialect.delimiter, "one column"), [*notes, *reading.notes()])


def _titles(rows: Sequence[Record]) -> int:
    """The number of lines above the table: a title or a comment, in one cell where the others have several."""
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 1
    titles = next((number for number, row in enumerate(rows) if len(row) > 1), 0)
    return titles if width > 1 and titles <= MOST_TITLES else 0


class _Reading:
    """The reading of lines in a dialect: a quote that opens a cell and seems never closed is read as a character."""

    def __init__(self, lines: Sequence[str], dialect: Dialect) -> None:
        self.lines, self.dialect = lines, dialect
        self.budget = 2 * len(lines) + 1_000  # lines that may be read again
        self.cell_lines = CELL_LINES + 1
        self.loose: list[int] = []  # numbers of the records whose quote was never closed
        self.wide: list[int] = []  # numbers of the records with delimiters and line breaks in one cell
        self.joined: list[int] = []  # numbers of the records with a delimiter too many
        self.columns: list[set[str] | None] = []  # for each column its values, if they are few

    def records(self) -> list[Record]:
        """All records that are not blank."""
        if not self.dialect.quote:
            rows = [row for row, _ in self.dialect.read(self.lines) if any(cell.strip() for cell in row)]
            self.columns = _columns(rows[:LEARNED_FROM])
            self.loose = [number for number, row in enumerate(rows, 1) if any(c.startswith('"') for c in row)]
            return self._wide(rows)
        self.columns = _columns([row for row, _ in islice(self._single(), LEARNED_FROM)])
        rows = []
        start = 0
        while start < len(self.lines):
            start = self._read_from(start, rows)
            if self.budget < 0 or len(self.loose) > MOST_LOOSE:
                self.dialect = self.dialect.plain
                return self.records()
        return self._wide(rows)

    def _wide(self, rows: Sequence[Record]) -> list[Record]:
        """Records as wide as most, where two or more cells of one are a text with delimiters."""
        if all(values is None for values in self.columns):
            return list(rows)
        return [self._joined(row, number) if len(row) > len(self.columns) else row for number, row in enumerate(rows, start=1)]

    def _joined(self, row: Record, number: int) -> Record:
        width = len(self.columns)
        for place in range(width):
            end = place + len(row) - width + 1
            joined = [*row[:place], self.dialect.delimiter.join(row[place:end]), *row[end:]]
            if self._fits(joined):
                self.joined.append(number)
                return joined
        return row

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
        return [unquoted(cell, self.dialect.quote) for cell in row]

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
        if self.joined:
            notes.append(f"A text without quotation marks contains the delimiter in {_rows(self.joined)}: its cells are joined.")
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


def _rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    named = [f"{number:,}" for number in numbers[:NAMED_ROWS]]
    if (more := len(numbers) - len(named)) > 0:
        named.append(f"{more:,} others")
    return f"row {named[0]}" if len(named) == 1 else f"rows {', '.join(named[:-1])} and {named[-1]}"
