"""Items of an experiment: a text with a blank, the word that belongs there, and a foil, which does not.

Words of the text may be marked: `The *key* to the drawers [MASK] here.`; and a marked word may have a counterpart, which makes a
second text of the item: `The *key/keys* to the drawers [MASK] here.`
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, ITEMS
from explorer.experiments.compute.minimal_pairs import suite_of
from explorer.text import limits
from explorer.text.tables import Row, read_table

HEADINGS = {
    "text_a": ("text_a", "text", "sentence", "a"),
    "text_b": ("text_b", "b"),
    "word": ("word", "right", "good"),
    "foil": ("foil", "wrong", "bad"),
    "group": ("group", "cluster", "frame"),
}
"""What the columns of a file may be called."""
FEWEST = 2  # one to select a head on, and one to test it on
GROUP = "#"  # begins a line that names the group of the items below it
MARKED = re.compile(r"\*(?!\s)([^*/]++)(?<!\s)(?:/(?!\s)([^*/]++)(?<!\s))?+\*")
"""`*word*` or `*word/counterpart*`; stars with a space inside, as in 2 * 3 * 4, mark nothing."""


@dataclass(frozen=True)
class Mark:
    """A marked stretch of text: characters [start, end) of text A (0) or B (1), and its counterpart, "" for none."""

    text: int
    start: int
    end: int
    other: str = ""


@dataclass(frozen=True)
class Item:
    """One question: which of two words belongs into the first blank of the text or pair.

    "" as word is the model's first guess there, "" as foil its best guess besides the word. Texts may be given with marks,
    `*word*` or `*word/counterpart*`; the item has the texts without them, and `marks` in their order. Items of one `group` are
    similar, so that they are not independent; "" is the group of all items with the same texts.
    """

    text_a: str
    text_b: str
    word: str
    foil: str
    marks: tuple[Mark, ...] = ()
    group: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for number, name in enumerate(("text_a", "text_b")):
            plain, marks = _without_marks(getattr(self, name), number)
            object.__setattr__(self, name, plain)
            object.__setattr__(self, "marks", self.marks + marks)

    @property
    def row(self) -> list[str]:
        """The item as programs send it, with its marks."""
        texts = self._texts(lambda own, other: f"*{own}/{other}*" if other else f"*{own}*")
        return [*texts, self.word, self.foil]

    @property
    def changed(self) -> tuple[str, str] | None:
        """Text A and B with every counterpart in its place; None where no marked word has one."""
        if not any(mark.other for mark in self.marks):
            return None
        text_a, text_b = self._texts(lambda own, other: other or own)
        return text_a, text_b

    def _texts(self, written: Callable[[str, str], str]) -> list[str]:
        """Both texts, with `written(marked, counterpart)` in the place of what is marked."""
        found = [self.text_a, self.text_b]
        for mark in sorted(self.marks, key=lambda mark: -mark.start):  # from the end, so that the places before stay
            text = found[mark.text]
            found[mark.text] = text[: mark.start] + written(text[mark.start : mark.end], mark.other) + text[mark.end :]
        return found


def number_groups(items: Sequence[Item]) -> np.ndarray:
    """The number of each item's group, from 0 in the order of the items: [items]."""
    names = [(item.group,) if item.group else (item.text_a, item.text_b) for item in items]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def check_items(rows: object, groups: object = ()) -> tuple[Item, ...]:
    """Items from rows [text_a, text_b, word, foil], which may be Items already; `groups` names the group of each, if any do.

    Raises InputError when there are too few or too many, or naming one that cannot be used.
    """
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise InputError("Send the items as a list of rows [text_a, text_b, word, foil].")
    ITEMS.check(len(rows), "items")
    if len(rows) < FEWEST:
        raise InputError("An experiment needs at least two items, one to select a head and one to test it. Send more.")
    items = tuple(_item(row, number) for number, row in enumerate(rows, start=1))
    if not groups:
        return items
    if isinstance(groups, str) or not isinstance(groups, Sequence) or len(groups) != len(items):
        raise InputError(f"Send the groups as a list of {len(items)} names, one per item.")
    named = [limits.check_optional_text(str(name), f"the group of item {at}").strip() for at, name in enumerate(groups, start=1)]
    return tuple(replace(item, group=name) for item, name in zip(items, named, strict=True))


def items_from_lines(typed: str) -> tuple[Item, ...]:
    """One item per line: text, word and foil, or text A, text B, word and foil, separated by tabs or by |.

    A line that begins with # names the group of the items below it. Raises InputError.
    """
    rows, groups, group = [], [], ""
    for number, line in enumerate(typed.splitlines(), start=1):
        if line.lstrip().startswith(GROUP):
            group = line.lstrip().lstrip(GROUP).strip()
        elif line.strip():
            rows.append(parts_of(line, number))
            groups.append(group)
    return check_items(rows, groups)


def parts_of(line: str, number: int) -> tuple[str, str, str, str]:
    """Text A, text B ("" for none), word and foil of a line. Raises InputError that names it by its number."""
    parts = [part.strip() for part in line.strip(" ").replace("\t", "|").split("|")]
    if len(parts) not in (3, 4):
        raise InputError(f"Line {number} is not an item. Write a sentence with a blank | its word | a foil.")
    CHARACTERS.check(max(map(len, parts)), f"a part of line {number}")
    text_a, *text_b, word, foil = parts
    return text_a, "".join(text_b), word, foil


@apart
def read_items(path: Path) -> tuple[Item, ...]:
    """The items in a CSV, TSV or JSON-lines file: its columns text (text_b, group), word and foil, or else its first three.

    Raises InputError when the file cannot be read or holds no items.
    """
    table = read_table(path)
    table = table.with_names(bool(_columns(table.first)))
    if len(table.columns) < 3:
        raise InputError("The file needs three columns: text, word and foil.")
    places = _columns(table.columns) or {"text_a": 0, "word": 1, "foil": 2}
    rows = [[row[places[role]].strip() if role in places else "" for role in HEADINGS] for row in table.rows]
    return check_items([row[:-1] for row in rows], [row[-1] for row in rows])


@functools.cache
def suite_items(name: str) -> tuple[Item, ...]:
    """The pairs of one of our suites as items, those of one frame in a group. Raises InputError for a name that no suite has."""
    suite = suite_of(name)
    items = (Item(pair.marked or pair.text, "", pair.word, pair.foil) for pair in suite.pairs)
    return tuple(replace(item, group=f"frame {frame + 1}") for item, frame in zip(items, suite.frames, strict=True))


def lines_of(items: Sequence[Item]) -> str:
    """Items as `items_from_lines` reads them."""
    rows = (item.row for item in items)
    return "\n".join(" | ".join([text_a, *([text_b] if text_b else []), *words]) for text_a, text_b, *words in rows)


def _without_marks(text: str, number: int) -> tuple[str, tuple[Mark, ...]]:
    parts, marks, at, length = [], [], 0, 0  # of the text without marks up to `at`
    for found in MARKED.finditer(text):
        parts += [text[at : found.start()], found[1]]
        length += found.start() - at
        marks.append(Mark(number, length, length + len(found[1]), found[2] or ""))
        at, length = found.end(), length + len(found[1])
    return "".join([*parts, text[at:]]), tuple(marks)


def _item(row: object, number: int) -> Item:
    if isinstance(row, Item):
        return replace(_item(row.row, number), group=row.group)
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
    found = {role: names.index(name) for role, known in HEADINGS.items() for name in reversed(known) if name in names}
    return found if found.keys() >= {"text_a", "word", "foil"} else {}
