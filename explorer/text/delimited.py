"""The records of a delimited text. clevercsv finds the delimiter, and the rows themselves show what a quotation mark is.

Quotes may never be closed, and texts without quotes may contain the delimiter. So a text is read in each way of quoting, and the
way counts in which the fewest rows differ from the others.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from explorer.core.lazy import clevercsv
from explorer.core.limits import COLUMNS, TABLE_MEGABYTES

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
ONE_COLUMN = "\x1f"  # a delimiter that no text contains
SAMPLE, STRETCH = 12_000, 60  # characters shown to clevercsv; its work is quadratic in a stretch without delimiters and quotes
COMPARED = 200  # lines in which delimiters and quotes are counted
EVEN = 0.95  # share of the rows that must have one length
LEARNED_FROM = 5_000  # records that show which values a column has
KNOWN_SHARE, FEW = 0.25, 5  # of different values, and how many of them, up to which a column is taken for labels
NAMED_ROWS = 5  # rows named in a note

_SEP = re.compile(r'"?sep=([\t,;|])"?\r?\n?', re.IGNORECASE)
_STRETCH = re.compile(rf"([^\t,;|\"'\\\r\n]{{{STRETCH}}})[^\t,;|\"'\\\r\n]+")
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB

Record = list[str]
Conditions = Sequence[Callable[[str], object]]


def read_records(text: str) -> tuple[list[Record], str, list[str]]:
    """The records of a delimited text without blank ones, the delimiter's name, and sentences on what was guessed.

    The sentences count records from 1.
    """
    named = _SEP.match(text)
    lines = list(io.StringIO(text[named.end() :] if named else text, newline=""))
    delimiter, quote = _find_dialect(lines, named[1] if named else "")
    rows, notes = _read_best(lines, delimiter, quote)
    if named:
        notes = [f"The first line, sep={named[1]}, names the delimiter and is skipped.", *notes]
    return rows, DELIMITERS.get(delimiter, "one column"), notes


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
    return number_of(cell) is not None


def _find_dialect(lines: Sequence[str], named: str) -> tuple[str, str]:
    """The delimiter, unless named, by clevercsv from a sample, and the quote, "" if there is none."""
    first = lines[:COMPARED]
    sample = _STRETCH.sub(r"\1", "".join(first)[: 10 * SAMPLE])[:SAMPLE]
    among = [named] if named else [delimiter for delimiter in DELIMITERS if delimiter in sample]
    found = clevercsv.Detector().detect(sample, delimiters=among)
    delimiter = (
        named or (found and found.delimiter) or next((mark for mark in among if _is_even(_read(first, mark, '"')[0])), ONE_COLUMN)
    )
    if not named and _usual_width(_read(first, delimiter, '"')[0])[0] == 1:
        return ONE_COLUMN, '"'
    single = found and found.quotechar == "'" and any(f"{delimiter}'" in line or line.startswith("'") for line in first)
    quote = "'" if single else '"'
    return delimiter, quote if any(quote in line for line in lines) else ""


def _usual_width(rows: Sequence[Record]) -> tuple[int, float]:
    """The number of cells that most rows have, and the share of these rows."""
    [(width, count)] = Counter(map(len, rows)).most_common(1) or [(1, 0)]
    return width, count / max(1, len(rows))


def _is_even(rows: Sequence[Record]) -> bool:
    """Whether nearly all rows have one length, of several cells."""
    width, share = _usual_width(rows)
    return width > 1 and share >= EVEN


def _read(lines: Sequence[str], delimiter: str, quote: str, escape: str = "") -> tuple[list[Record], bool]:
    """The records that are not blank, and whether all lines keep to this way of quoting."""
    spaced = bool(quote) and any(f"{quote}{delimiter} {quote}" in line for line in lines[:COMPARED])
    for strict in (True, False):
        reader = csv.reader(
            lines,
            delimiter=delimiter,
            quotechar=quote or None,
            escapechar=escape or None,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            skipinitialspace=spaced,
            strict=strict,
        )
        with suppress(csv.Error):
            return [row for row in reader if any(cell.strip() for cell in row)], strict
    return [], False


def _read_best(lines: Sequence[str], delimiter: str, quote: str) -> tuple[list[Record], list[str]]:
    """The records in the way of quoting in which the fewest differ from the others, and sentences on what is odd.

    Ways that all lines keep to come first, and of equal ones the one with the most records.
    """
    doubled, valid = _read(lines, delimiter, quote)
    on_one_line = [row for row in doubled if not any("\n" in cell for cell in row)]
    unquoted, _ = _read([line for line in lines if quote not in line], delimiter, "")
    conditions = _conditions(max(on_one_line, unquoted, key=len)[:LEARNED_FROM])
    ways = [(doubled, valid)]
    if quote and (not valid or len(on_one_line) < len(doubled)):
        plain = [[_unquote(cell, quote) for cell in row] for row in _read(lines, delimiter, "")[0]]
        even = _is_even([_fit(row, conditions, delimiter, quote) or row for row in plain])
        ways += [_read(lines, delimiter, quote, "\\"), (plain, even)]
    fitted = [([_fit(row, conditions, delimiter, quote) for row in rows], rows, valid) for rows, valid in ways]
    fits, rows, _ = min(fitted, key=lambda way: (not way[2], way[0].count(None), -len(way[0])))
    titles = next((number for number, row in enumerate(rows) if len(row) > 1), 0)  # lines above the table, in one cell
    odd: dict[str, list[int]] = {}
    for number, (row, fit) in enumerate(zip(rows[titles:], fits[titles:], strict=True), start=1):
        for sentence in _oddities(row, fit or row, len(conditions), delimiter, quote):
            odd.setdefault(sentence, []).append(number)
    notes = ["What is above the table is skipped."] * (titles > 0)
    notes += [sentence.format(_list_rows(numbers)) for sentence, numbers in odd.items()]
    return [fit or row for row, fit in zip(rows, fits, strict=True)][titles:], notes


def _oddities(row: Record, fit: Record, width: int, delimiter: str, quote: str) -> Iterator[str]:
    """Sentences on a record and what was made of it, with a place for the numbers of the records."""
    if quote and any(cell.startswith(quote) for cell in fit):
        yield "A quotation mark opens a cell and is not closed in {}: it is read as a character."
    if any("\n" in cell and delimiter in cell for cell in row):
        yield f"A quoted cell contains {DELIMITERS[delimiter]}s and line breaks in {{}}: check its quotation marks."
    if len(row) > width > 0 and not (quote and any(cell.startswith(quote) for cell in row)):
        said = "its cells are joined" if len(fit) < len(row) else f"there are {width + 1} cells or more"
        yield f"A text without quotation marks contains the delimiter in {{}}: {said}."


def _unquote(cell: str, quote: str) -> str:
    """A cell without the quotes around it, if it has both."""
    return cell[1:-1].replace(2 * quote, quote) if len(cell) > 1 and cell[0] == cell[-1] == quote else cell


def _conditions(rows: Sequence[Record]) -> Conditions:
    """What the cells of each column fulfil: to be one of a few values, a number, or not empty (bool)."""
    if not rows or (width := _usual_width(rows)[0]) > COLUMNS.most:
        return []
    found: list[Callable[[str], object]] = []
    for cells in zip(*(row for row in rows if len(row) == width), strict=True):
        counts = Counter(cell.strip() for cell in cells)
        repeated = {value for value, count in counts.items() if count > 1}
        if repeated and len(counts) <= max(FEW, KNOWN_SHARE * len(cells)):
            found.append(repeated.__contains__)
        else:
            found.append(is_number if sum(map(is_number, cells)) >= 0.9 * len(cells) else bool)
    return found


def _fit(row: Record, conditions: Conditions, delimiter: str, quote: str) -> Record | None:
    """The row, if its cells are like those of most; where there are too many, those that make one text are joined."""
    surplus = len(row) - len(conditions)
    if surplus < 0 or (surplus and all(fits is bool for fits in conditions)):
        return None
    for place in range(len(conditions)) if surplus else (0,):
        end = place + surplus + 1
        way = [*row[:place], _unquote(delimiter.join(row[place:end]), quote) if surplus else row[place], *row[end:]]
        if all(fits(cell.strip()) for cell, fits in zip(way, conditions, strict=True)):
            return way
    return None


def _list_rows(numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7' or 'rows 1, 2, 3, 4, 5 and 12 others'."""
    named = [f"{number:,}" for number in numbers[:NAMED_ROWS]]
    if (more := len(numbers) - len(named)) > 0:
        named.append(f"{more:,} others")
    return f"row {named[0]}" if len(named) == 1 else f"rows {', '.join(named[:-1])} and {named[-1]}"
