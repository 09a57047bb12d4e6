"""Items of an experiment: a text with a blank, the word that belongs there, and a foil, which does not."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.core.errors import InputError
from explorer.core.limits import ITEMS
from explorer.experiments.compute.suites import suite_of
from explorer.text import limits
from explorer.text.tables import Row, Table, read_table

HEADINGS = {
    "text_a": ("text_a", "text", "sentence", "a"),
    "text_b": ("text_b", "b"),
    "word": ("word", "right", "good"),
    "foil": ("foil", "wrong", "bad"),
}
"""What the columns of a file may be called."""
SEPARATOR = re.compile(r" *[|\t] *")
FEWEST = 2  # one to select a head on, and one to test it on


@dataclass(frozen=True)
class Item:
    """One question: which of two words belongs into the first blank of the text or pair.

    "" as word is the model's first guess there, "" as foil its best guess besides the word.
    """

    text_a: str
    text_b: str
    word: str
    foil: str

    @property
    def row(self) -> list[str]:
        """The item as programs send it."""
        return [self.text_a, self.text_b, self.word, self.foil]


def check_items(rows: object) -> tuple[Item, ...]:
    """Items from rows [text_a, text_b, word, foil], which may be Items already.

    Raises InputError when there are too few or too many, or naming one that cannot be used.
    """
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise InputError("Send the items as a list of rows [text_a, text_b, word, foil].")
    ITEMS.check(len(rows), "items")
    if len(rows) < FEWEST:
        raise InputError("An experiment needs at least two items, one to select a head and one to test it; send more.")
    return tuple(_item(row, number) for number, row in enumerate(rows, start=1))


def items_from_lines(typed: str) -> tuple[Item, ...]:
    """One item a line: text, word and foil, or text A, text B, word and foil, set apart by tabs or by |. Raises InputError."""
    rows = []
    for number, line in enumerate(typed.splitlines(), start=1):
        if not line.strip():
            continue
        parts = [part.strip() for part in SEPARATOR.split(line.strip(" "))]
        if len(parts) not in (3, 4):
            raise InputError(f"Line {number} is no item; write a sentence with a blank | its word | a foil.")
        rows.append(parts if len(parts) == 4 else [parts[0], "", *parts[1:]])
    return check_items(rows)


def read_items(path: Path) -> tuple[Item, ...]:
    """The items in a CSV, TSV or JSON-lines file: its columns text (and text_b), word and foil, or else its first three.

    Raises InputError when the file cannot be read or holds no items.
    """
    table = read_table(path, lambda first, rest: bool(_columns(first)))
    if len(table.columns) < 3:
        raise InputError("The file needs three columns: text, word and foil.")
    return check_items(_rows(table))


@functools.cache
def suite_items(name: str) -> tuple[Item, ...]:
    """The pairs of one of our suites as items. Raises InputError for a name that no suite has."""
    return tuple(Item(pair.text, "", pair.word, pair.foil) for pair in suite_of(name).pairs)


def lines_of(items: Sequence[Item]) -> str:
    """Items as `items_from_lines` reads them."""
    return "\n".join(" | ".join([one.text_a, *([one.text_b] if one.text_b else []), one.word, one.foil]) for one in items)


def _item(row: object, number: int) -> Item:
    if isinstance(row, Item):
        row = row.row
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 4:
        raise InputError(f"Item {number} must be a row [text_a, text_b, word, foil].")
    text_a = limits.check_text(row[0], f"the text of item {number}")
    text_b, word, foil = (
        limits.check_optional_text(cell, f"{name} of item {number}")
        for cell, name in zip(row[1:], ("text B", "the word", "the foil"), strict=True)
    )
    return Item(text_a, text_b, word.strip(), foil.strip())


def _columns(cells: Row) -> dict[str, int]:
    """Where text, word and foil are, when the cells name them; {} when not."""
    names = [cell.strip().lower() for cell in cells]
    found = {role: next((names.index(name) for name in known if name in names), None) for role, known in HEADINGS.items()}
    there = {role: place for role, place in found.items() if place is not None}
    return there if there.keys() >= {"text_a", "word", "foil"} else {}


def _rows(table: Table) -> list[list[str]]:
    places = _columns(table.columns) or {"text_a": 0, "word": 1, "foil": 2}
    return [[row[places[role]].strip() if role in places else "" for role in HEADINGS] for row in table.rows]
