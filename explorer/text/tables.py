"""Uploaded tables: CSV, TSV and JSON lines, in any encoding and with any common delimiter."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CELL_LINES, CELLS, COLUMNS, LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.text.characters import has_visible_characters

FILE_TYPES = (".csv", ".tsv", ".txt", ".json", ".jsonl")
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}  # on a tie the first wins: texts contain commas
BINARY = {b"PK": "an Excel or zip file", b"PAR1": "a Parquet file", b"%PDF": "a PDF", b"\x1f\x8b": "a gzip file"}
TEXT_NAMES = ["text", "sentence", "sentence1", "text_a", "tweet", "message", "review", "comment", "content"]
TEXT_NAMES += ["question", "question1", "premise", "title"]
SECOND_NAMES = ["text_b", "sentence2", "question2", "hypothesis", "second", "text2"]
LABEL_NAMES = ["label_text", "label", "class", "category", "sentiment", "intent", "target", "tag", "topic", "y"]

Row = tuple[str, ...]

_JSON = re.compile(r"""\s*(\{|\[\s*["\[{\d-])""")  # a first cell may well be [MASK], which is not JSON
csv.field_size_limit(TABLE_MEGABYTES.bytes)  # a long text is cut later, with a message; csv's own limit is 128 KiB


@dataclass(frozen=True)
class Table:
    """The cells of a file as texts; every row is as long as `columns`, and `about` says how the file was read."""

    columns: Row
    rows: tuple[Row, ...]
    about: str
    name: str = ""  # of the file

    def column(self, name: str) -> list[str]:
        """The cells of a column. Raises InputError when there is none of that name."""
        if name not in self.columns:
            raise InputError("The file has no such column; choose one of its own.")
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


def has_column_names(first: Row, rest: Sequence[Row]) -> bool:
    """Whether the first row names the columns: short, not numbers, and not repeated below."""
    cells = [cell.strip().lower() for cell in first]
    if set(cells) & {*TEXT_NAMES, *SECOND_NAMES, *LABEL_NAMES}:
        return True
    if any(len(cell) > 40 or cell.lstrip("-").isdigit() for cell in cells):
        return False
    return not any(cells[column] in {row[column].strip().lower() for row in rest} for column in range(len(cells)))


@apart
def read_table(path: Path, has_names: Callable[[Row, Sequence[Row]], bool] = has_column_names) -> Table:
    """The rows of a CSV, TSV or JSON-lines file; delimiter and encoding are detected, `has_names` decides about the first row.

    Raises InputError when the file is too large or too long, not a text, or without rows.
    """
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    text, encoding = decode(path.read_bytes())
    if not has_visible_characters(text):
        raise InputError("The file is empty; it needs a line of column names and at least one row.")
    _check_length(max(text.count("\n"), text.count("\r")))
    if _JSON.match(text):
        columns, rows = _read_json(text, has_names)
        how = "JSON"
    else:
        delimiter = _delimiter(text)
        columns, rows = _name_columns(_records(text, delimiter), has_names)
        how = f"{DELIMITERS[delimiter]}-separated"
    if not rows or not columns:
        raise InputError("The file has no rows; it needs a line of column names and at least one row.")
    return Table(columns, rows, f"{len(rows):,} rows, {how}, {encoding}.", path.name)


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and the name of its encoding. Raises InputError when it is not a text."""
    for start, kind in BINARY.items():
        if data.startswith(start):
            raise InputError(f"The file is {kind}, not text; save it as CSV and try again.")
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((name for mark, name in marks.items() if data.startswith(mark)), None)
    # cp1252 is what Excel writes in the West; it lacks five bytes, latin-1 none, so it never fails.
    for encoding in [marked] if marked else ["utf-8", "cp1252", "latin-1"]:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16"}.get(encoding, "Windows-1252")
    raise InputError("The file is not text that can be read; save it as CSV in UTF-8 and try again.")


def text_column_of(table: Table) -> str:
    """The column named text, or else the one with the longest cells."""
    return column_called("text", table) or max(table.columns, key=lambda name: sum(map(len, table.column(name)[:200])))


def column_called(name: str, table: Table) -> str:
    """The column of this name, ignoring case, or ''."""
    return next((column for column in table.columns if column.lower() == name), "")


def _delimiter(text: str) -> str:
    """The delimiter that splits most of the first records into the same number of cells, two or more."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in _records(text[:20_000], delimiter)[:30])
        cells, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        return (rows / max(1, widths.total()) if cells > 1 else 0.0), cells

    return max(DELIMITERS, key=score)


def _check_length(lines: int, cells: int = 0) -> None:
    """Raise InputError for too many lines or cells: even short rows take memory, each as many cells as the longest."""
    LINES.check(lines)
    CELLS.check(cells)


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The records of a delimited text; a quote that is never closed counts as a character."""

    def read(quoting: Literal[0, 3]) -> list[list[str]]:  # csv.QUOTE_MINIMAL or csv.QUOTE_NONE
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
        return [row for row in rows if any(cell.strip() for cell in row)]

    rows = read(csv.QUOTE_MINIMAL)
    return read(csv.QUOTE_NONE) if any(cell.count("\n") > CELL_LINES.most for row in rows for cell in row) else rows


def _name_columns(records: list[list[str]], has_names: Callable[[Row, Sequence[Row]], bool]) -> tuple[Row, tuple[Row, ...]]:
    width = min(max((len(row) for row in records), default=1), COLUMNS.most)
    _check_length(len(records), len(records) * width)
    rows = [tuple((row + [""] * width)[:width]) for row in records]
    if not rows:
        return (), ()
    first, rest = rows[0], rows[1:]
    if not has_names(first, rest):
        first, rest = tuple(f"column {number}" for number in range(1, width + 1)), rows
    return _number_repeats([cell.strip()[:60] for cell in first]), tuple(rest)


def _number_repeats(names: list[str]) -> Row:
    """The names, with a number added to those that are empty or repeated."""
    taken: list[str] = []
    for number, name in enumerate(names, start=1):
        taken.append(name if name and name not in taken else f"{name or 'column'} {number}")
    return tuple(taken)


def _read_json(text: str, has_names: Callable[[Row, Sequence[Row]], bool]) -> tuple[Row, tuple[Row, ...]]:
    """Columns and rows from JSON: objects, one per line or in a list, or lists of cells."""
    try:
        if text.lstrip().startswith("[") and (whole := _whole_list(text)) is not None:
            items = whole
        else:
            items = [json.loads(line) for line in text.splitlines() if line.strip()]
        json.dumps(items, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError("The file holds half a character (a lone surrogate); write it again as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise InputError("The file looks like JSON but cannot be read; send one object a line.") from error
    if items and all(isinstance(item, list) for item in items):
        return _name_columns([[text_of(value) for value in item] for item in items], has_names)
    if not all(isinstance(item, dict) for item in items):
        raise InputError("Every line of a JSON file must be an object with a text and a label.")
    columns = list(dict.fromkeys(str(name) for item in items for name in item))[: COLUMNS.most]
    _check_length(len(items), len(items) * len(columns))
    rows = tuple(tuple(text_of(item.get(name)) for name in columns) for item in items)
    return _number_repeats([name.strip()[:60] for name in columns]), rows


def _whole_list(text: str) -> list | None:
    """The list that the text is, or None when every line is a value of its own."""
    try:
        whole = json.loads(text)
    except ValueError:
        return None
    return whole if isinstance(whole, list) and whole and isinstance(whole[0], dict | list) else [whole]


def text_of(value: object) -> str:
    """A value as a cell: texts unchanged, None as '', the rest as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
