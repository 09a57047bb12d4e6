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
from dataclasses import dataclass

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
Row = dict[str, str]


@dataclass(frozen=True)
class Template:
    """Lines of items with slots, the rows of slots filled together, and how many guesses the model makes for others."""

    lines: tuple[tuple[str, str, str, str], ...]
    filled: tuple[tuple[Row, ...], ...]
    guessed: dict[str, int]


def read_template(text: str) -> Template:
    """The template in a text. Raises InputError that says which line or slot is wrong."""
    lines: list[tuple[str, str, str, str]] = []
    filled: list[tuple[Row, ...]] = []
    guessed: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if fills := FILLS.fullmatch(line):
            names = [name.strip() for name in fills[1].split("/")]
            if len(names) + len(filled) + len(guessed) > MOST_SLOTS:
                raise InputError(f"Line {number} fills more slots than {MOST_SLOTS}; write several templates.")
            _once(names, [*guessed, *(name for rows in filled for name in rows[0])])
            if asked := GUESSES.fullmatch(fills[2].strip()):
                guessed[_alone(names)] = _guesses(int(asked[1]), number)
            else:
                filled.append(_rows(names, fills[2], number))
        else:
            _check_line(line, number)
            lines.append(parts_of(line, number))
    if not lines:
        raise InputError(EMPTY)
    template = Template(tuple(lines), tuple(filled), guessed)
    _check_slots(template)
    return template


def template_items(template: str, model: Explorer | None = None) -> tuple[Item, ...]:
    """The items of a template, without repeats; the model fills the slots that are left to its guesses.

    Raises InputError for a template that is empty or wrong, makes too many items or fewer than two, or needs a model.
    """
    read = read_template(template)
    ITEMS.check(sum(_count(read, line) for line in read.lines), "items")
    if read.guessed and model is None:
        raise InputError(f"The slot {{{next(iter(read.guessed))}}} is left to the model's guesses; give the model too.")
    if sum(_asked(read, line) for line in read.lines) > MOST_ASKED:
        raise InputError(f"The model would have to fill more than {MOST_ASKED} sentences; give the other slots fewer values.")
    return check_items(list(dict.fromkeys(item for line in read.lines for item in _items(read, line, model))))


def _items(read: Template, line: tuple[str, str, str, str], model: Explorer | None) -> Iterator[Item]:
    for rows in itertools.product(*_used(read, line)):
        values = {name: value for row in rows for name, value in row.items()}
        cells = [_filled(cell, values) for cell in line]
        group = ", ".join(sorted({*rows[0].values()})) if rows else ""
        for text_a, text_b in _guess(read, cells[0], cells[1], model):
            yield Item(text_a, text_b, cells[2], cells[3], group=group)


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


def _used(read: Template, line: Sequence[str]) -> list[tuple[Row, ...]]:
    """Of the slots that are filled by hand, those of a line."""
    there = set(SLOT.findall(" ".join(line)))
    return [rows for rows in read.filled if there & rows[0].keys()]


def _guessed(read: Template, line: Sequence[str]) -> list[int]:
    """How many guesses the model makes for each of its slots in a line, from left to right."""
    return [read.guessed[name] for name in dict.fromkeys(SLOT.findall(line[0] + line[1])) if name in read.guessed]


def _by_hand(read: Template, line: Sequence[str]) -> int:
    return math.prod(len(rows) for rows in _used(read, line))


def _count(read: Template, line: Sequence[str]) -> int:
    """How many items a line makes at most."""
    return _by_hand(read, line) * math.prod(_guessed(read, line))


def _asked(read: Template, line: Sequence[str]) -> int:
    """How many sentences of a line the model fills."""
    guessed = _guessed(read, line)
    return _by_hand(read, line) * sum(math.prod(guessed[:at]) for at in range(len(guessed)))


def _rows(names: Sequence[str], values: str, number: int) -> tuple[Row, ...]:
    """What fills some slots together, from values set apart by commas, and within them by /."""
    rows = []
    for value in filter(None, (value.strip() for value in values.split(","))):
        parts = [part.strip() for part in value.split("/")] if len(names) > 1 else [value]
        if len(parts) != len(names):
            raise InputError(
                f"Line {number} has {len(names)} slots and {len(parts)} parts in {value[:40]!r}; give each slot one."
            )
        rows.append(dict(zip(names, parts, strict=True)))
    if not rows:
        raise InputError(f"Line {number} gives {{{names[0]}}} no values; write some, as in {names[0]} = one, two.")
    return tuple(rows)


def _alone(names: Sequence[str]) -> str:
    if len(names) > 1:
        raise InputError(f"The model fills one slot at a time; give {{{names[0]}}} a line of its own.")
    return names[0]


def _guesses(count: int, number: int) -> int:
    if not 1 <= count <= MOST_GUESSES:
        raise InputError(f"Line {number} asks for {count} guesses; ask for 1 to {MOST_GUESSES}.")
    return count


def _once(names: Sequence[str], known: Sequence[str]) -> None:
    if twice := next((name for at, name in enumerate(names) if name in known or name in names[:at]), ""):
        raise InputError(f"The slot {{{twice}}} is filled twice; keep one of its lines.")


def _check_line(line: str, number: int) -> None:
    """Check that the braces of a line are slots and its brackets special tokens. Raises InputError."""
    if wrong := next((name for name in BRACKETED.findall(line) if name not in SPECIAL), ""):
        raise InputError(f"Line {number} has [{wrong}], which is not a slot; write {{{wrong}}}, or {MASK} for the blank.")
    if re.search(r"[{}]", SLOT.sub("", line)):
        raise InputError(f"Line {number} has a brace outside a slot. A slot is a name in braces, such as {{thing}}.")


def _check_slots(template: Template) -> None:
    """Check that all slots are filled and used, and that the model guesses no word or foil. Raises InputError."""
    used = set(SLOT.findall(" ".join(" ".join(line) for line in template.lines)))
    filled = {name for rows in template.filled for name in rows[0]} | template.guessed.keys()
    if missing := next((name for name in sorted(used) if name not in filled), ""):
        raise InputError(f"Nothing fills the slot {{{missing}}}; add a line such as {missing} = one, two.")
    if unused := next((name for name in sorted(filled) if name not in used), ""):
        raise InputError(f"No sentence has the slot {{{unused}}}; write it into one, or leave its line out.")
    words = {name for line in template.lines for cell in line[2:] for name in SLOT.findall(cell)}
    if asked := next((name for name in template.guessed if name in words), ""):
        raise InputError(
            f"The slot {{{asked}}} is a word or foil, which the model cannot guess here; fill it by hand, or leave it empty."
        )
