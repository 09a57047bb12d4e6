"""What the page opens with: cards, orders, questions, texts to try, and tasks by name, from assets/examples/opening.json."""

import json
from typing import NamedTuple

from explorer.core.paths import EXAMPLES
from explorer.text.lines import Pair

_GIVEN = json.loads((EXAMPLES / "opening.json").read_text("utf-8"))

Cards = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the lines of each class."""
Clicked = tuple[tuple[str, tuple[str, ...]], ...]
"""Sentences, and the tags of their words."""

OUTSIDE = "O"  # the tag of a word without a click
STARTER: Cards = tuple((card["name"], tuple(card["lines"])) for card in _GIVEN["cards"])
QUESTIONS: str = "\n".join(_GIVEN["questions"])
OURS: dict[frozenset[str], tuple[Pair, ...]] = {
    frozenset(kind["labels"]): tuple((text[0], text[1] if len(text) > 1 else "") for text in kind["texts"])
    for kind in _GIVEN["tried"]
}
"""Texts and pairs to try, by the labels that they are for."""


def _order(line: str) -> tuple[str, tuple[str, ...]]:
    """A sentence and the tags of its words: 'small/SIZE beer/DRINK', where a word without a tag is O."""
    words = [word.rsplit("/", 1) if "/" in word else [word, OUTSIDE] for word in line.split(" ")]
    return " ".join(word for word, _ in words), tuple(tag for _, tag in words)


ORDERS: Clicked = tuple(map(_order, _GIVEN["orders"]))
"""Orders in a café, with the words that a waiter writes down."""


class KnownTask(NamedTuple):
    called: str
    given: str  # the input
    wanted: str  # the output
    source: str
    kind: str
    ready: str  # the built-in set of its kind


TASKS = {name: KnownTask(**task) for name, task in _GIVEN["tasks"].items()}
