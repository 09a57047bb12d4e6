"""Items of an experiment: a text with a blank, the word that belongs there, and a foil, which does not.

Words of the text may be marked: `The *key* to the drawers [MASK] here.`; and a marked word may have a counterpart, which makes a
second text of the item: `The *key/keys* to the drawers [MASK] here.`

Items come from a file, a suite, or lines that a person types. These may have slots in braces, and for every slot a line with what
fills it.

    The *{noun}/{other}* near the {place} [MASK] old. | {verb} | {foil}
    noun/other/verb/foil = key/keys/is/are, keys/key/are/is
    place = drawers, garden

Slots set apart by / are filled together, others in every combination. Items with the same words in the first slots are one group:
key/keys and keys/key are not independent.
"""

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, ITEMS
from explorer.text import limits
from explorer.text.encoding import MASK
from explorer.text.tables import Row, read_table

HEADINGS = {
    "text_a": ("text_a", "text", "sentence", "a"),
    "text_b": ("text_b", "b"),
    "word": ("word", "right", "good"),
    "foil": ("foil", "wrong", "bad"),
    "group": ("group", "cluster", "frame"),
}
"""What the columns of a file may be called."""
EXAMPLE = """The *{noun}/{other}* near the {place} [MASK] old. | {verb} | {foil}
noun/other/verb/foil = key/keys/is/are, letters/letter/are/is, cup/cups/is/are, boxes/box/are/is, picture/pictures/is/are, \
chairs/chair/are/is, book/books/is/are, doors/door/are/is, house/houses/is/are, windows/window/are/is, table/tables/is/are, \
tools/tool/are/is
place = garden, street, church"""
SLOT = re.compile(r"\{(\w+)\}")
FILLS = re.compile(r"\s*(\w+(?:\s*/\s*\w+)*)\s*=(.*)", re.DOTALL)
MOST_SLOTS = 50
EMPTY = "Type at least two items, each a line: a sentence with [MASK] | the word that belongs there | a foil."
FEWEST = 2  # one to select a head on, and one to test it on
GROUP = "#"  # begins a line that names the group of the items below it
MARKED = re.compile(r"\*(?!\s)([^*/]++)(?<!\s)(?:/(?!\s)([^*/]++)(?<!\s))?+\*")
"""`*word*` or `*word/counterpart*`; stars with a space inside, as in 2 * 3 * 4, mark nothing."""
Cells = tuple[str, str, str, str]
"""Text A, text B, word and foil."""
Slots = tuple[dict[str, str], ...]
"""Each way in which slots are filled together, by the name of a slot."""


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


def parts_of(line: str, number: int) -> Cells:
    """Text A, text B ("" for none), word and foil of a line. Raises InputError that names it by its number."""
    parts = [part.strip() for part in line.strip(" ").replace("\t", "|").split("|")]
    if len(parts) not in (3, 4):
        raise InputError(f"Line {number} is not an item. Write a sentence with a blank | its word | a foil.")
    CHARACTERS.check(max(map(len, parts)), f"a part of line {number}")
    text_a, *text_b, word, foil = parts
    return text_a, "".join(text_b), word, foil


@apart
def read_items(path: Path) -> tuple[Item, ...]:
    """The items in a CSV, TSV or JSON-lines file: its columns text (text_b, group), word and foil, or three without names.

    Raises InputError when the file cannot be read, has other columns or holds no items.
    """
    table = read_table(path)
    if len(table.columns) < 3:
        raise InputError("The file needs three columns: text, word and foil.")
    if table.headed and not _columns(table.columns) and MASK not in " ".join(table.first):
        found = ", ".join(repr(name[:20]) for name in table.columns[:4])
        raise InputError(f"The columns of the file are {found}. Rename three of them text, word and foil.")
    table = table.with_names(bool(_columns(table.first)))
    places = _columns(table.columns) or {"text_a": 0, "word": 1, "foil": 2}
    rows = [[row[places[role]].strip() if role in places else "" for role in HEADINGS] for row in table.rows]
    return check_items([row[:-1] for row in rows], [row[-1] for row in rows])


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


@functools.lru_cache(16)
def items_from_lines(typed: str) -> tuple[Item, ...]:
    """One item per line: text, word and foil, or text A, text B, word and foil, separated by tabs or by |.

    A line that begins with # names the group of the items below it. A line with slots makes an item for each way to fill them.
    Raises InputError that says which line or slot is wrong, and for too many items or fewer than two.
    """
    lines, filled = _read_lines(typed)
    used = [[slots for slots in filled if slots[0].keys() & {*SLOT.findall(" ".join(line))}] for line, _ in lines]
    ITEMS.check(sum(math.prod(map(len, slots)) for slots in used), "items")
    items = []
    for (line, group), slots in zip(lines, used, strict=True):
        for rows in itertools.product(*slots):
            values = {name: value for row in rows for name, value in row.items()}
            own = group or (", ".join(sorted({*rows[0].values()})) if rows else "")
            text_a, text_b, word, foil = (_filled(cell, values) for cell in line)
            items.append(Item(text_a, text_b, word, foil, group=own))
    return check_items(list(dict.fromkeys(items)) if filled else items)


def _read_lines(typed: str) -> tuple[list[tuple[Cells, str]], list[Slots]]:
    """The lines of items, each with its group, and what fills their slots. Raises InputError."""
    lines, filled, slots, group = list[tuple[Cells, str]](), list[Slots](), list[str](), ""
    for number, line in enumerate(typed.splitlines(), start=1):
        if line.lstrip().startswith(GROUP):
            group = line.lstrip().lstrip(GROUP).strip()
        elif "|" not in line and (fills := FILLS.fullmatch(line)):
            names = [name.strip() for name in fills[1].split("/")]
            slots += names
            filled.append(_read_fills(names, fills[2], number))
        elif line.strip():
            if re.search(r"[{}]", SLOT.sub("", line)):
                raise InputError(f"Line {number} has a brace outside a slot. A slot is a name in braces, such as {{thing}}.")
            lines.append((parts_of(line, number), group))
        if len(filled) > MOST_SLOTS:
            raise InputError(f"Line {number} fills more slots than {MOST_SLOTS}. Write several templates.")
    if not lines:
        raise InputError(EMPTY)
    used = {*SLOT.findall(" ".join(cell for line, _ in lines for cell in line))}
    if twice := next((name for name, count in Counter(slots).items() if count > 1), ""):
        raise InputError(f"The slot {{{twice}}} is filled twice. Keep one of its lines.")
    if missing := min(used - {*slots}, default=""):
        raise InputError(f"Nothing fills the slot {{{missing}}}. Add a line such as {missing} = one, two.")
    if unused := min({*slots} - used, default=""):
        raise InputError(f"No sentence has the slot {{{unused}}}. Write it into one, or leave its line out.")
    return lines, filled


def _read_fills(names: Sequence[str], values: str, number: int) -> Slots:
    """What fills some slots together: values set apart by commas, and within them by /. Raises InputError."""
    rows = []
    for value in filter(None, map(str.strip, values.split(","))):
        parts = [part.strip() for part in value.split("/")] if len(names) > 1 else [value]
        if len(parts) != len(names):
            raise InputError(
                f"Line {number} has {len(names)} slots and {len(parts)} parts in {value[:40]!r}. Give each slot one."
            )
        rows.append(dict(zip(names, parts, strict=True)))
    if not rows:
        raise InputError(f"Line {number} gives {{{names[0]}}} no values. Write some, as in {names[0]} = one, two.")
    return tuple(rows)


def _filled(cell: str, values: dict[str, str]) -> str:
    """A cell with values in its slots. Raises InputError where it would get too long."""
    CHARACTERS.check(len(cell) + sum(len(values.get(name, "")) for name in SLOT.findall(cell)), "an item of the template")
    return SLOT.sub(lambda slot: values.get(slot[1], slot[0]), cell)
