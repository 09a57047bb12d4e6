"""Other people's files: CSV, TSV and JSON lines, in whatever encoding and with whatever delimiter they come."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.base.errors import InputError
from explorer.text import limits
from explorer.training.examples import MAX_LABEL, Examples, check_classes, normalised

MAX_FILE_BYTES = 10 * 2**20
MAX_COLUMNS = 200
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}  # of equals the first: texts hold commas
BINARY = {b"PK": "an Excel or zip file", b"PAR1": "a Parquet file", b"%PDF": "a PDF", b"\x1f\x8b": "a gzip file"}
TEXT_NAMES = [
    "text",
    "sentence",
    "sentence1",
    "text_a",
    "tweet",
    "message",
    "review",
    "comment",
    "content",
    "question",
    "question1",
    "premise",
    "title",
]
SECOND_NAMES = ["text_b", "sentence2", "question2", "hypothesis", "second", "text2"]
LABEL_NAMES = ["label_text", "label", "class", "category", "sentiment", "intent", "target", "tag", "topic", "y"]

csv.field_size_limit(MAX_FILE_BYTES)  # one long text is cut later, and told; by itself csv stops at 128 KiB


@dataclass(frozen=True)
class Table:
    """The cells of a file as texts, every row as long as `columns`; `about` says how the file was read."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    about: str

    def column(self, name: str) -> list[str]:
        """All cells of one column. Raises InputError when there is none of that name."""
        if name not in self.columns:
            raise InputError("The file has no such column; choose one of its own.")
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


@dataclass(frozen=True)
class Columns:
    """Which column is what; `text_b` is '' when the texts are single."""

    text: str
    label: str
    text_b: str = ""


def read_table(path: Path) -> Table:
    """The rows of a CSV, TSV or JSON-lines file; delimiter, encoding and whether there are column names are found out.

    Raises InputError when the file is too large, is no text, or has no rows.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InputError(f"The file has more than {MAX_FILE_BYTES // 2**20} MB; send a part of it.")
    text, encoding = _decode(path.read_bytes())
    if not limits.has_visible_characters(text):
        raise InputError("The file is empty; it needs a line of column names and at least one row.")
    if text.lstrip()[:1] in ("{", "["):
        columns, rows = _read_json(text)
        how = "JSON"
    else:
        delimiter = _delimiter(text)
        columns, rows = _name_columns(_records(text, delimiter))
        how = f"{DELIMITERS[delimiter]}-separated"
    if not rows:
        raise InputError("The file has no rows; it needs a line of column names and at least one row.")
    return Table(columns, rows, f"{len(rows):,} rows, {how}, {encoding}.")


def _decode(data: bytes) -> tuple[str, str]:
    for start, kind in BINARY.items():
        if data.startswith(start):
            raise InputError(f"The file is {kind}, not text; save it as CSV and try again.")
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((name for mark, name in marks.items() if data.startswith(mark)), None)
    # cp1252 is what Excel writes in the West; it has five holes, latin-1 has none and so never fails.
    for encoding in [marked] if marked else ["utf-8", "cp1252", "latin-1"]:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16"}.get(encoding, "Windows-1252")
    raise InputError("The file is not text that can be read; save it as CSV in UTF-8 and try again.")


def _delimiter(text: str) -> str:
    """The delimiter that cuts most of the first records into one number of cells, two or more."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in _records(text[:20_000], delimiter)[:30])
        cells, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        return (rows / max(1, widths.total()) if cells > 1 else 0.0), cells

    return max(DELIMITERS, key=score)


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The records of a delimited text; a quote that is never closed is a quote, not the start of a cell."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    if any(cell.count("\n") > 50 for row in rows for cell in row):
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=csv.QUOTE_NONE))
    return [row for row in rows if any(cell.strip() for cell in row)]


def _name_columns(records: list[list[str]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    width = min(max((len(row) for row in records), default=1), MAX_COLUMNS)
    rows = [tuple((row + [""] * width)[:width]) for row in records]
    first, rest = rows[0], rows[1:]
    if not _are_names(first, rest):
        first, rest = tuple(f"column {number}" for number in range(1, width + 1)), rows
    return _different([cell.strip()[:60] for cell in first]), tuple(rest)


def _are_names(first: tuple[str, ...], rest: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first row names the columns: short, different, no numbers, and not seen again below."""
    cells = [cell.strip().lower() for cell in first]
    if set(cells) & {*TEXT_NAMES, *SECOND_NAMES, *LABEL_NAMES}:
        return True
    if any(len(cell) > 40 or cell.lstrip("-").isdigit() for cell in cells):
        return False
    return not any(cells[column] in {row[column].strip().lower() for row in rest} for column in range(len(cells)))


def _different(names: list[str]) -> tuple[str, ...]:
    """The names, those that are empty or taken with a number."""
    taken: list[str] = []
    for number, name in enumerate(names, start=1):
        taken.append(name if name and name not in taken else f"{name or 'column'} {number}")
    return tuple(taken)


def _read_json(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Objects, one a line or in one list, or lists of cells."""
    try:
        if text.lstrip().startswith("[") and (whole := _whole_list(text)) is not None:
            items = whole
        else:
            items = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise InputError("The file looks like JSON but cannot be read; send one object a line.") from error
    if items and all(isinstance(item, list) for item in items):
        return _name_columns([[text_of(value) for value in item] for item in items])
    if not all(isinstance(item, dict) for item in items):
        raise InputError("Every line of a JSON file must be an object with a text and a label.")
    columns = list(dict.fromkeys(str(name) for item in items for name in item))[:MAX_COLUMNS]
    rows = tuple(tuple(text_of(item.get(name)) for name in columns) for item in items)
    return _different([name.strip()[:60] for name in columns]), rows


def _whole_list(text: str) -> list | None:
    """The one list that the text is, or None when every line is a value of its own."""
    try:
        whole = json.loads(text)
    except ValueError:
        return None
    return whole if isinstance(whole, list) and whole and isinstance(whole[0], dict | list) else [whole]


def text_of(value: object) -> str:
    """A value as a cell: texts as they are, nothing as '', the rest as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def guess_columns(table: Table) -> Columns:
    """Which column holds the text, the label and a second text: by their names, or else by what is in them."""
    lower = {name.lower(): name for name in reversed(table.columns)}

    def named(names: Sequence[str]) -> str:
        return next((lower[name] for name in names if name in lower), "")

    lengths = {name: np.mean([len(cell) for cell in table.column(name)]) for name in table.columns}
    text = named(TEXT_NAMES) or max(table.columns, key=lambda name: lengths[name])
    others = [name for name in table.columns if name != text]
    label = named(LABEL_NAMES) if named(LABEL_NAMES) != text else ""
    if not label and others:
        kinds = {name: len(set(table.column(name))) for name in others}
        several = [name for name in others if kinds[name] > 1]
        label = min(several or others, key=lambda name: (kinds[name], lengths[name]))
    second = named(SECOND_NAMES)
    return Columns(text, label, second if second not in (text, label) else "")


def choose(table: Table, columns: Columns, seed: int = 0) -> tuple[Examples, str]:
    """Examples from the chosen columns, and a sentence on what was left out, cut, or found twice.

    Rows without a text or a label are left out; of more rows than can be taken, as many are drawn with the seed.
    Raises InputError when there are not two labels with two examples each.
    """
    if not columns.label or columns.label == columns.text:
        raise InputError("A head needs a column with the labels besides the one with the texts; choose two columns.")
    texts, labels = table.column(columns.text), table.column(columns.label)
    seconds = table.column(columns.text_b) if columns.text_b else [""] * len(texts)
    kept = [
        row
        for row in range(len(texts))
        if limits.has_visible_characters(texts[row]) and limits.has_visible_characters(labels[row])
    ]
    notes = [
        _count(
            len(texts) - len(kept), "row without a text or a label left out", "rows without a text or a label left out"
        )
    ]
    if len(kept) > limits.MAX_TEXTS:
        drawn = np.random.default_rng(seed).choice(len(kept), limits.MAX_TEXTS, replace=False)
        notes.append(f"{limits.MAX_TEXTS:,} of {len(kept):,} rows drawn with the seed")
        kept = [kept[row] for row in sorted(drawn)]
    long = sum(len(texts[row]) > limits.MAX_CHARACTERS or len(seconds[row]) > limits.MAX_CHARACTERS for row in kept)
    cut = f"cut to {limits.MAX_CHARACTERS:,} characters"
    notes.append(_count(long, f"text {cut}", f"texts {cut}"))
    chosen = Examples(
        tuple(_clean(texts[row]) for row in kept),
        tuple(_clean(labels[row].strip())[:MAX_LABEL] for row in kept),
        tuple(_clean(seconds[row]) for row in kept) if columns.text_b else (),
    )
    if not kept:
        raise InputError("No row has both a text and a label; choose other columns.")
    check_classes(Counter(chosen.labels))
    return chosen, " ".join(f"{note[0].upper()}{note[1:]}." for note in [*notes, *_duplicates(chosen)] if note)


def _clean(text: str) -> str:
    """At most MAX_CHARACTERS, without half characters, which JSON can spell and no tokenizer takes."""
    return text[: limits.MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _duplicates(examples: Examples) -> list[str]:
    seen: dict[tuple[str, str], set[str]] = {}
    for (text, text_b), label in zip(examples.pairs, examples.labels, strict=True):
        seen.setdefault((normalised(text), normalised(text_b)), set()).add(label)
    twice = len(examples) - len(seen)
    torn = sum(len(labels) > 1 for labels in seen.values())
    return [
        _count(
            twice, "text is there twice; equal texts are never split", "texts are repeats; equal texts are never split"
        ),
        _count(torn, "text has different labels", "texts have different labels"),
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}" if number else ""
