"""Items from a template: sentences with slots in braces, and for every slot a line with what fills it, by hand or by the model.

    The *{noun}/{other}* near the {place} [MASK] old. | {verb} | {foil}
    noun/other/verb/foil = key/keys/is/are, keys/key/are/is
    place = ?3

Slots set apart by / are filled together, others in every combination. `?3` stands for the three best guesses of the model there.
Items with the same words in the first slots that are filled by hand are one group: key/keys and keys/key are not independent.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, ITEMS
from explorer.experiments.compute.items import Item, check_items, parts_of
from explorer.text.encoding import MASK

EXAMPLE = """The *{noun}/{other}* near the {place} [MASK] old. | {verb} | {foil}
noun/other/verb/foil = key/keys/is/are, letters/letter/are/is, cup/cups/is/are, boxes/box/are/is, picture/pictures/is/are, \
chairs/chair/are/is, book/books/is/are, doors/door/are/is, house/houses/is/are, windows/window/are/is, table/tables/is/are, \
tools/tool/are/is
place = ?3"""
EMPTY = (
    "The template is missing. Write a sentence with slots, such as The {thing} [MASK] old. | is | are, and below it lines "
    "for them, such as thing = key, cup."
)
SLOT = re.compile(r"\{(\w+)\}")
FILLS = re.compile(r"\s*(\w+(?:\s*/\s*\w+)*)\s*=(.*)", re.DOTALL)
GUESSES = re.compile(r"\?\s*(\d{1,3})")
BRACKETED = re.compile(r"\[(\w{1,20})\]")
SPECIAL = ("MASK", "SEP", "CLS", "PAD", "UNK")
MOST_SLOTS = 50  # lines that fill slots
MOST_GUESSES = 50  # of a slot
MOST_ASKED = 200  # sentences that the model fills: a pass each
SPARE = 50  # guesses more than are wanted, since pieces of words and signs do not count
Line = tuple[str, str, str, str]
Row = dict[str, str]


@dataclass
class Template:
    """Lines of items with slots, the rows of slots filled together, and how many guesses the model makes for others."""

    lines: list[Line] = field(default_factory=list)
    filled: list[tuple[Row, ...]] = field(default_factory=list)
    guessed: dict[str, int] = field(default_factory=dict)

    @property
    def slots(self) -> list[str]:
        """The slots that something fills."""
        return [*self.guessed, *(name for rows in self.filled for name in rows[0])]

    def used(self, line: Line) -> tuple[list[tuple[Row, ...]], list[int]]:
        """Of a line the rows of slots that are filled by hand, and the number of guesses for the others, from left to right."""
        names = dict.fromkeys(SLOT.findall(" ".join(line)))
        guessed = [self.guessed[name] for name in names if name in self.guessed]
        return [rows for rows in self.filled if names.keys() & rows[0].keys()], guessed


def read_template(text: str) -> Template:
    """The template in a text. Raises InputError that says which line or slot is wrong."""
    template = Template()
    for number, line in enumerate(text.splitlines(), start=1):
        if fills := FILLS.fullmatch(line):
            _read_fills(template, [name.strip() for name in fills[1].split("/")], fills[2].strip(), number)
        elif line.strip():
            if wrong := next((name for name in BRACKETED.findall(line) if name not in SPECIAL), ""):
                raise InputError(f"Line {number} has [{wrong}], which is not a slot; write {{{wrong}}}, or {MASK} for the blank.")
            if re.search(r"[{}]", SLOT.sub("", line)):
                raise InputError(f"Line {number} has a brace outside a slot. A slot is a name in braces, such as {{thing}}.")
            template.lines.append(parts_of(line, number))
    if not template.lines:
        raise InputError(EMPTY)
    used, filled = {*SLOT.findall(" ".join(map(" ".join, template.lines)))}, {*template.slots}
    if missing := min(used - filled, default=""):
        raise InputError(f"Nothing fills the slot {{{missing}}}; add a line such as {missing} = one, two.")
    if unused := min(filled - used, default=""):
        raise InputError(f"No sentence has the slot {{{unused}}}; write it into one, or leave its line out.")
    words = {name for line in template.lines for cell in line[2:] for name in SLOT.findall(cell)}
    if asked := next((name for name in template.guessed if name in words), ""):
        raise InputError(
            f"The slot {{{asked}}} is a word or foil, which the model cannot guess here; fill it by hand, or leave it empty."
        )
    return template


def _read_fills(template: Template, names: Sequence[str], values: str, number: int) -> None:
    """Add what fills some slots together: guesses, or values set apart by commas, and within them by /. Raises InputError."""
    if len(names) + len(template.filled) + len(template.guessed) > MOST_SLOTS:
        raise InputError(f"Line {number} fills more slots than {MOST_SLOTS}; write several templates.")
    if twice := next((name for at, name in enumerate(names) if name in [*template.slots, *names[:at]]), ""):
        raise InputError(f"The slot {{{twice}}} is filled twice; keep one of its lines.")
    if asked := GUESSES.fullmatch(values):
        if len(names) > 1:
            raise InputError(f"The model fills one slot at a time; give {{{names[0]}}} a line of its own.")
        if not 1 <= int(asked[1]) <= MOST_GUESSES:
            raise InputError(f"Line {number} asks for {int(asked[1])} guesses; ask for 1 to {MOST_GUESSES}.")
        template.guessed[names[0]] = int(asked[1])
        return
    rows = []
    for value in filter(None, map(str.strip, values.split(","))):
        parts = [part.strip() for part in value.split("/")] if len(names) > 1 else [value]
        if len(parts) != len(names):
            raise InputError(
                f"Line {number} has {len(names)} slots and {len(parts)} parts in {value[:40]!r}; give each slot one."
            )
        rows.append(dict(zip(names, parts, strict=True)))
    if not rows:
        raise InputError(f"Line {number} gives {{{names[0]}}} no values; write some, as in {names[0]} = one, two.")
    template.filled.append(tuple(rows))


def template_items(template: str, model: Explorer | None = None) -> tuple[Item, ...]:
    """The items of a template, without repeats; the model fills the slots that are left to its guesses.

    Raises InputError for a template that is empty or wrong, makes too many items or fewer than two, or needs a model.
    """
    read, made, asked = read_template(template), 0, 0
    for line in read.lines:
        filled, guessed = read.used(line)
        by_hand = math.prod(map(len, filled))
        made += by_hand * math.prod(guessed)
        asked += by_hand * sum(math.prod(guessed[:at]) for at in range(len(guessed)))
    ITEMS.check(made, "items")
    if read.guessed and model is None:
        raise InputError(f"The slot {{{next(iter(read.guessed))}}} is left to the model's guesses; give the model too.")
    if asked > MOST_ASKED:
        raise InputError(f"The model would have to fill more than {MOST_ASKED} sentences; give the other slots fewer values.")
    return check_items(list(dict.fromkeys(item for line in read.lines for item in _items(read, line, model))))


def _items(read: Template, line: Line, model: Explorer | None) -> Iterator[Item]:
    for rows in itertools.product(*read.used(line)[0]):
        values = {name: value for row in rows for name, value in row.items()}
        text_a, text_b, word, foil = (_filled(cell, values) for cell in line)
        group = ", ".join(sorted({*rows[0].values()})) if rows else ""
        for texts in _guess(read, text_a, text_b, model):
            yield Item(*texts, word, foil, group=group)


def _filled(cell: str, values: Row) -> str:
    """A cell with values in its slots. Raises InputError where it would get too long."""
    CHARACTERS.check(len(cell) + sum(len(values.get(name, "")) for name in SLOT.findall(cell)), "an item of the template")
    return SLOT.sub(lambda slot: values.get(slot[1], slot[0]), cell)


def _guess(read: Template, text_a: str, text_b: str, model: Explorer | None) -> Iterator[tuple[str, str]]:
    """The texts with the slots filled that are left to the model, from left to right. Raises InputError for one cut off."""
    found = SLOT.search(text_a) or SLOT.search(text_b)
    if found is None or model is None:
        yield text_a, text_b
        return
    name = found[1]
    before = text_a[: found.start()] if SLOT.search(text_a) else text_a + text_b[: found.start()]
    hidden = Item(SLOT.sub(MASK, text_a), SLOT.sub(MASK, text_b), "", "")  # without stars
    blanks, number = model.fill_mask(hidden.text_a, hidden.text_b, read.guessed[name] + SPARE), before.count(MASK)
    if number >= len(blanks):
        raise InputError(f"The slot {{{name}}} comes after the tokens that fit into the model; shorten the text before it.")
    words = [candidate.token for candidate in blanks[number].candidates if candidate.token.isalpha()]
    for word in words[: read.guessed[name]]:
        filled_a, filled_b = (text.replace(f"{{{name}}}", word) for text in (text_a, text_b))
        yield from _guess(read, filled_a, filled_b, model)
