"""The records of a delimited text, in the delimiter and the way of quoting in which its rows are most even.

Quotes may never be closed, and texts without quotes may contain the delimiter. So a text is read in each of these ways.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from explorer.core.limits import TABLE_MEGABYTES
from explorer.text.names import KNOWN_NAMES, normal

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
ONE_COLUMN = "\x1f"  # a delimiter that no text contains
COMPARED = 200  # lines in which delimiters are compared
EVEN = 0.95  # share of the rows of one length from which nothing is wrong
NAMED_ROWS = 5  # rows named in a note

GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+|[-+]?[1-9]\d{0,2}(?:\.\d{3})+")  # 1,080 or 1.080: of thousands, or a fraction
_SEP = re.compile(r'"?sep=([\t,;|])"?\r?\n?', re.IGNORECASE)
_LINE_END = re.compile(r"((?<!\\)(?:\\\\)*+)\\n")  # a backslash and an n, as MySQL writes them in a cell
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB

Record = list[str]
Reading = tuple[list[Record], bool, str | None]
"""The records that are not blank, whether all lines keep to this way of quoting, and its quotation mark."""


def read_records(text: str) -> tuple[list[Record], str, list[str]]:
    """The records that are not blank, what sets their cells apart, and sentences on guesses, which count records from 1."""
    named = _SEP.match(text)
    lines = list(io.StringIO(text[named.end() :] if named else text, newline=""))
    sample = lines[:COMPARED]
    while len(sample) < len(lines) and sum(line.count('"') for line in sample) % 2:  # in the middle of a cell
        sample.pop()
    evenness = {mark: _usual_width(_read_best(sample, mark)[0])[1] for mark in DELIMITERS}
    best = max(evenness, key=evenness.__getitem__)
    delimiter = named[1] if named else best if evenness[best] else ONE_COLUMN
    rows, notes = _tidy(_read_best(lines, delimiter), delimiter)
    if named:
        notes = [f"The first line, sep={named[1]}, names the delimiter and is skipped.", *notes]
    return rows, f"{DELIMITERS[delimiter]}-separated" if delimiter in DELIMITERS else "one column", notes


def number_of(cell: str, thousands: str = "") -> float | None:
    """A cell as a finite number: with a decimal point or comma, thousands set apart by the other, or a percent sign.

    `thousands` is the mark before them in the other cells of its column: "," makes 1,080 of 1,080.
    """
    cell = cell.strip().removesuffix("%")
    if thousands and GROUPED.fullmatch(cell):
        cell = cell.replace(thousands, "")
    if "," in cell:
        thousands, decimals = (",", ".") if cell.rfind(".") > cell.rfind(",") else (".", ",")
        cell = cell.replace(thousands, "").replace(decimals, ".")
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def is_number(cell: str) -> bool:
    return number_of(cell) is not None


def _usual_width(rows: Sequence[Record]) -> tuple[int, float]:
    """The number of cells that most rows have, and the share of these rows; 0 if that is one cell."""
    width, count = (Counter(map(len, rows)).most_common(1) or [(1, 0)])[0]
    return width, count / len(rows) if width > 1 else 0.0


def _read(lines: Sequence[str], delimiter: str, quote: str | None, escape: str | None = None) -> Reading:
    if escape:
        lines = [_LINE_END.sub(r"\1\n", line) for line in lines]
    spaced = quote is not None and any(f"{quote}{delimiter} {quote}" in line for line in lines[:COMPARED])
    how: Literal[0, 3] = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    for strict in (True, False):
        reader = csv.reader(
            lines, delimiter=delimiter, quotechar=quote, escapechar=escape, quoting=how, skipinitialspace=spaced, strict=strict
        )
        with suppress(csv.Error):
            return [row for row in reader if any(cell.strip() for cell in row)], strict, quote
    return [], False, quote


def _read_best(lines: Sequence[str], delimiter: str) -> Reading:
    """The records in the way of quoting in which they are even, the fewest lack cells, and there are most of them."""
    opened, single = (sum(line.startswith(mark) + line.count(delimiter + mark) for line in lines) for mark in "\"'")
    escapes = (None, "\\") if any("\\" in line for line in lines) else (None,)
    ways = [_read(lines, delimiter, mark, escape) for mark in ("'\"" if single > opened else '"') for escape in escapes]
    ways = [way for way in ways if way[1] or way[2] == '"']  # other apostrophes are letters
    if any('"' in line for line in lines) and not (delimiter == ONE_COLUMN and ways[0][1]):
        ways.append(([[_unquote(cell) for cell in row] for row in _read(lines, delimiter, None)[0]], True, None))

    def oddness(way: Reading) -> tuple[bool, int, int]:
        rows, valid, _ = way
        width, share = _usual_width(rows)
        odd = not valid or (share < EVEN and delimiter != ONE_COLUMN)
        return odd, sum(len(row) < width for row in rows), -len(rows)

    return min(ways, key=oddness)


def _unquote(cell: str) -> str:
    """A cell without the quotes around it, if it has both."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _tidy(way: Reading, delimiter: str) -> tuple[list[Record], list[str]]:
    """The records below a title, and sentences on what is odd; surplus cells belong to the column with the longest ones."""
    rows, _, quote = way
    width = _usual_width(rows)[0]
    titles = next((number for number, row in enumerate(rows) if len(row) > 1), 0)  # lines above the table, in one cell
    lengths = [sum(map(len, column)) for column in zip(*(row for row in rows if len(row) == width), strict=True)]
    longest, name = lengths.index(max(lengths, default=0)) if lengths else 0, DELIMITERS.get(delimiter)
    notes: dict[str, list[int]] = {
        "A quotation mark opens a cell and is not closed in {}: it is read as a character.": [],
        f"A quoted cell contains {name}s and line breaks in {{}}: check its quotation marks.": [],
        "A text without quotation marks contains the delimiter in {}: its cells are joined.": [],
    }
    unclosed, broken, joined = notes.values()
    tidied, ids = [], [row[0].strip() for row in rows[titles + 1 :]]
    if ids and len(rows[titles]) == width - 1 and ids == [str(number + (ids[0] == "1")) for number in range(len(ids))]:
        rows[titles] = ["", *rows[titles]]  # R writes the numbers of rows without a name above them
    for number, row in enumerate(rows[titles:], start=1):
        while len(row) > width and not row[-1].strip():
            row.pop()
        if (surplus := len(row) - width) > 0 and width > 1 and (number > 1 or KNOWN_NAMES.isdisjoint(map(normal, row))):
            cell = delimiter.join(row[longest : longest + surplus + 1])
            row = [*row[:longest], _unquote(cell), *row[longest + surplus + 1 :]]
            joined += [number] * (cell == _unquote(cell))
        if not quote and any(cell.startswith('"') and cell.count('"') % 2 for cell in row):
            unclosed.append(number)
        if any("\n" in cell and delimiter in cell for cell in row):
            broken.append(number)
        tidied.append(row)
    told = [sentence.format(_list_rows(numbers)) for sentence, numbers in notes.items() if numbers]
    return tidied, [*["What is above the table is skipped."] * (titles > 0), *told]


def _list_rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3, 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    more = f" and {len(numbers) - NAMED_ROWS:,} others" if len(numbers) > NAMED_ROWS else ""
    return f"row{'s' * (len(numbers) > 1)} {', '.join(f'{number:,}' for number in numbers[:NAMED_ROWS])}{more}"
