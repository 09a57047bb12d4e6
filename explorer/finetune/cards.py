"""Classes as cards, in the order in which a person made them; and what the page opens with, from assets/examples/opening.json."""

import json
from typing import Any, NamedTuple

from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, CARDS, CHARACTERS, LABEL
from explorer.core.paths import EXAMPLES
from explorer.text.characters import has_visible_characters
from explorer.text.lines import Pair
from explorer.text.tables import Table as TextTable
from explorer.training.columns import guess_columns, is_missing_text, missing_labels
from explorer.training.examples import normalise
from explorer.ui.pictures.numbers import Table, keep

_GIVEN = json.loads((EXAMPLES / "opening.json").read_text("utf-8"))

Cards = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the lines of each class."""

OUTSIDE = "O"  # the tag of a word without one
STARTER: Cards = tuple((card["name"], tuple(card["lines"])) for card in _GIVEN["cards"])
OURS: dict[frozenset[str], tuple[Pair, ...]] = {
    frozenset(kind["labels"]): tuple((text[0], text[1] if len(text) > 1 else "") for text in kind["texts"])
    for kind in _GIVEN["tried"]
}
"""Texts and pairs to try, by the labels that they are for."""


ORDERS: str = "\n".join(_GIVEN["orders"])
"""Orders in a café, with the words that a waiter writes down: word/TAG."""


class KnownTask(NamedTuple):
    called: str
    given: str  # the input
    wanted: str  # the output
    source: str
    kind: str
    ready: str  # the built-in set of its kind


TASKS = {name: KnownTask(**task) for name, task in _GIVEN["tasks"].items()}


DOUBLE = "In this class twice: both are left out together."
CONTRADICTION = "In another class, too: keep it in one of them."
NAMELESS = "This class has sentences but no name."
TWICE = "Another class has the same name; the two are one class."


def cards_of(value: object) -> Cards:
    """Valid cards from what a browser or a link sends: [[name, [line, ...]], ...]; the opening ones for anything else."""
    given = value[: CARDS.most] if isinstance(value, list | tuple) else ()
    if not given or not all(_is_card(card) for card in given):
        return STARTER
    room, kept = BOX_CHARACTERS.most, []
    for name, lines in given:
        lines = [line[: CHARACTERS.most] for line in lines]
        while sum(map(len, lines)) > room:
            lines = lines[: len(lines) // 2]
        kept.append((name[: LABEL.most], tuple(lines)))
        room -= sum(map(len, lines))
    return tuple(kept)


def take_in(cards: Cards, place: int, table: TextTable) -> Cards:
    """The cards with a table of sentences and labels, a card per label; without labels, all are for the card at `place`.

    As of any file, rows without a text or a label are left out. Raises InputError.
    """
    columns = guess_columns(table)
    if columns.text_b:
        raise InputError("This table has pairs of texts, and a line of a card is one text. Choose A file above.")
    labels = [label.strip() for label in table.column(columns.label)] if columns.label else []
    different, missing = len(set(labels)), missing_labels(labels)
    labelled = different > 1 and (different < len(labels) or (table.headed and different <= CARDS.most))
    taken = [(name, list(lines)) for name, lines in cards if not labelled or any(lines for _, lines in cards)]
    by_name: dict[str, list[str]] = {}  # a file may have thousands of labels
    for name, lines in taken:
        by_name.setdefault(normalise(name), lines)
    for row, text in enumerate(table.column(columns.text)):
        if is_missing_text(text) or not has_visible_characters(text) or (labelled and labels[row] in missing):
            continue
        name = normalise(labels[row]) if labelled else ""
        if labelled and name not in by_name:
            by_name[name] = []
            taken.append((labels[row], by_name[name]))
        (by_name[name] if labelled else taken[place][1]).append(" ".join(text.split()))
    if len(taken) > CARDS.most:
        raise InputError(
            f"There is room for {CARDS.most} classes, and with this table there are {len(taken):,}. Choose A file above."
        )
    return tuple((name, tuple(lines)) for name, lines in taken)


def _is_card(card: object) -> bool:
    if not isinstance(card, list | tuple) or len(card) != 2:
        return False
    name, lines = card
    return isinstance(name, str) and isinstance(lines, list | tuple) and all(isinstance(line, str) for line in lines)


def draw_cards(cards: Cards, mistakes: dict[tuple[str, str], str]) -> dict[str, Any]:
    """The component's value: the cards, their faults, and the `mistakes`: what the head said, by (sentence, label)."""
    classes = [{"name": name, "lines": list(lines)} for name, lines in cards]
    wrong = [
        {"card": card, "line": place, "text": f"Left out, it is taken for {mistakes[line, name]}."}
        for card, (name, lines) in enumerate(cards)
        for place, line in enumerate(lines)
        if (line, name) in mistakes
    ]
    rows = [[name, line] for name, lines in cards for line in lines]
    drawn = {"classes": classes, "faults": find_faults(cards), "wrong": wrong, "most": CARDS.most}
    return keep(drawn, lambda: Table.of(("class", "sentence"), rows))


def find_faults(cards: Cards) -> list[dict[str, Any]]:
    """What is wrong with which line of which card: {"card", "line", "text"}; line -1 is the name."""
    faults = []
    names = [normalise(name) for name, _ in cards]
    where: dict[str, list[int]] = {}
    for card, (_, lines) in enumerate(cards):
        for line in lines:
            where.setdefault(normalise(line), []).append(card)
    for card, (name, lines) in enumerate(cards):
        if not name.strip() and any(line.strip() for line in lines):
            faults.append({"card": card, "line": -1, "text": NAMELESS})
        elif name.strip() and names.index(names[card]) < card:
            faults.append({"card": card, "line": -1, "text": TWICE})
        for place, line in enumerate(lines):
            cards_with = where[normalise(line)] if line.strip() else [card]
            if any(names[other] != names[card] for other in cards_with):
                faults.append({"card": card, "line": place, "text": CONTRADICTION})
            elif len(cards_with) > 1:
                faults.append({"card": card, "line": place, "text": DOUBLE})
    return faults
