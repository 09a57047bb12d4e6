"""Items that are made: from a template, or from the corpus that comes with the app.

A template has sentences with slots in braces, and for every slot a line with what fills it, by hand or by the model.

    The *{noun}/{other}* near the {place} [MASK] old. | {verb} | {foil}
    noun/other/verb/foil = key/keys/is/are, keys/key/are/is
    place = ?3

Slots set apart by / are filled together, others in every combination. `?3` stands for the three best guesses of the model there.
Items with the same words in the first slots that are filled by hand are one group: key/keys and keys/key are not independent.
In sentences of the corpus, one of two words becomes the blank.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.core.limits import CHARACTERS, ITEMS
from explorer.experiments.compute.items import Item, check_items, parts_of
from explorer.text import limits
from explorer.text.corpora import ROOT, CorpusSentence, built_in
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
NOTHING, SUBJECT, GOVERNOR = MARKS = ("", "subject", "head")
LONGEST, MOST_WORDS = 20, 60  # words of a sentence, by default and at most
MOST_ITEMS = 500  # of a pair: those spread over the whole corpus, as many of each word as there are
NO_PAIR = "Write pairs of words, such as is/are, was/were: a sentence with one of them is an item, and the other is the foil."
PAIR = re.compile(r"([^\s/,]+)\s*/\s*([^\s/,]+)")
ODD = re.compile(r"[*|\[\]]")  # characters that mark words or divide cells where items are typed
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
                raise InputError(f"Line {number} has [{wrong}], which is not a slot. Write {{{wrong}}}, or {MASK} for the blank.")
            if re.search(r"[{}]", SLOT.sub("", line)):
                raise InputError(f"Line {number} has a brace outside a slot. A slot is a name in braces, such as {{thing}}.")
            template.lines.append(parts_of(line, number))
    if not template.lines:
        raise InputError(EMPTY)
    used, filled = {*SLOT.findall(" ".join(map(" ".join, template.lines)))}, {*template.slots}
    if missing := min(used - filled, default=""):
        raise InputError(f"Nothing fills the slot {{{missing}}}. Add a line such as {missing} = one, two.")
    if unused := min(filled - used, default=""):
        raise InputError(f"No sentence has the slot {{{unused}}}. Write it into one, or leave its line out.")
    words = {name for line in template.lines for cell in line[2:] for name in SLOT.findall(cell)}
    if asked := next((name for name in template.guessed if name in words), ""):
        raise InputError(
            f"The slot {{{asked}}} is a word or foil, which the model cannot guess here. Fill it by hand, or leave it empty."
        )
    return template


def _read_fills(template: Template, names: Sequence[str], values: str, number: int) -> None:
    """Add what fills some slots together: guesses, or values set apart by commas, and within them by /. Raises InputError."""
    if len(names) + len(template.filled) + len(template.guessed) > MOST_SLOTS:
        raise InputError(f"Line {number} fills more slots than {MOST_SLOTS}. Write several templates.")
    if twice := next((name for at, name in enumerate(names) if name in [*template.slots, *names[:at]]), ""):
        raise InputError(f"The slot {{{twice}}} is filled twice. Keep one of its lines.")
    if asked := GUESSES.fullmatch(values):
        if len(names) > 1:
            raise InputError(f"The model fills one slot at a time. Give {{{names[0]}}} its own line.")
        if not 1 <= int(asked[1]) <= MOST_GUESSES:
            raise InputError(f"Line {number} asks for {int(asked[1])} guesses. Ask for 1 to {MOST_GUESSES}.")
        template.guessed[names[0]] = int(asked[1])
        return
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
        raise InputError(f"The slot {{{next(iter(read.guessed))}}} is left to the model's guesses. Give the model too.")
    if asked > MOST_ASKED:
        raise InputError(f"The model would have to fill more than {MOST_ASKED} sentences. Give the other slots fewer values.")
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
        raise InputError(f"The slot {{{name}}} comes after the tokens that fit into the model. Shorten the text before it.")
    words = [candidate.token for candidate in blanks[number].candidates if candidate.token.isalpha()]
    for word in words[: read.guessed[name]]:
        filled_a, filled_b = (text.replace(f"{{{name}}}", word) for text in (text_a, text_b))
        yield from _guess(read, filled_a, filled_b, model)


def corpus_items(pairs: str, longest: int = LONGEST, mark: str = NOTHING) -> tuple[Item, ...]:
    """The sentences of the built-in corpus of at most `longest` words that have one word of a pair, as 'is/are, was/were'.

    The word is the blank's word, the other one of its pair the foil. `mark` puts stars around its "subject", or around the word
    it depends on ("head"), by the corpus's Universal Dependencies; sentences without it are left out. Raises InputError for
    words that are not a pair, and where fewer than two sentences are found.
    """
    foils = _foils(pairs)
    limits.check_integer(longest, "the longest sentence", 2, MOST_WORDS)
    limits.check_choice(mark, "what is marked", MARKS)
    sentences = [
        sentence for sentence in built_in().sentences if len(sentence.words) <= longest and not ODD.search(sentence.text)
    ]
    found = [item for sentence in sentences for item in _of_sentence(sentence, foils, mark)]
    if len(found) < 2:
        raise InputError(
            f"The corpus has {len(found)} such sentences of at most {longest} words. Take more common words, or longer sentences."
        )
    chosen = np.unique(np.linspace(0, len(found) - 1, min(MOST_ITEMS, len(found))).round().astype(int))
    return check_items([found[at] for at in chosen.tolist()])


def _foils(pairs: str) -> dict[str, str]:
    """The foil of each word. Raises InputError."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in pairs.split(","))):
        if (words := PAIR.fullmatch(part.lower())) is None or words[1] == words[2]:
            raise InputError(f"{part[:40]!r} is not a pair. Write two words with / between, as in is/are.")
        found |= {words[1]: words[2], words[2]: words[1]}
    if not found:
        raise InputError(NO_PAIR)
    return found


def _of_sentence(sentence: CorpusSentence, foils: dict[str, str], mark: str) -> Iterator[Item]:
    """The item of a sentence with exactly one of the words."""
    there = [at for at, word in enumerate(sentence.words) if word.lower() in foils]
    if len(there) != 1 or not sentence.starts:
        return
    word, places = sentence.words[there[0]].lower(), {there[0]: MASK}
    if mark:
        if (marked := _marked(sentence, there[0], mark)) is None:
            return
        places[marked] = f"*{sentence.words[marked]}*"
    text = sentence.text
    for place in sorted(places, reverse=True):
        start = sentence.starts[place]
        text = text[:start] + places[place] + text[start + len(sentence.words[place]) :]
    yield Item(text, "", word, foils[word])


def _marked(sentence: CorpusSentence, at: int, mark: str) -> int | None:
    """The word to mark, zero-based; None for none."""
    if not mark or not sentence.heads:
        return None
    if mark == GOVERNOR:
        return None if sentence.heads[at] == ROOT else sentence.heads[at]
    owners = [at, *([sentence.heads[at]] if sentence.relations[at].split(":")[0] in ("cop", "aux") else [])]  # of a subject
    pairs = enumerate(zip(sentence.heads, sentence.relations, strict=True))
    return next((word for word, (head, relation) in pairs if head in owners and relation.split(":")[0] == "nsubj"), None)
