"""What the page opens with: cards, orders, texts to try, and tasks by name, from assets/examples/opening.json."""

import json
from typing import NamedTuple

from explorer.core.paths import EXAMPLES
from explorer.text.lines import Pair

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
