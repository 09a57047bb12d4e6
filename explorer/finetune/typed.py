"""Tagged words and questions as a person types them, and the ones that the page begins with."""

import re

from explorer.core.errors import InputError
from explorer.core.limits import LABEL, TEXTS
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tagged import TaggedSentence, split_words

OUTSIDE = "O"  # the tag of a word without a click
ORDERS: tuple[tuple[str, dict[int, str]], ...] = (  # in a café: the words that a waiter writes down
    ("Two large coffees and a tea , please .", {0: "COUNT", 1: "SIZE", 2: "DRINK", 4: "COUNT", 5: "DRINK"}),
    ("I would like one small beer .", {3: "COUNT", 4: "SIZE", 5: "DRINK"}),
    ("Could we have three soups and bread ?", {3: "COUNT", 4: "FOOD", 6: "FOOD"}),
    ("A large salad for my wife and water for me .", {0: "COUNT", 1: "SIZE", 2: "FOOD", 7: "DRINK"}),
    ("Bring us four small cakes with the coffee .", {2: "COUNT", 3: "SIZE", 4: "FOOD", 7: "DRINK"}),
    ("My friend takes the fish and a glass of wine .", {4: "FOOD", 6: "COUNT", 9: "DRINK"}),
    ("Just a small juice for the child .", {1: "COUNT", 2: "SIZE", 3: "DRINK"}),
    ("We are still looking , thank you .", {}),
)
ORDER_TAGS = tuple((text, tuple(tags.get(place, OUTSIDE) for place in range(len(split_words(text))))) for text, tags in ORDERS)
QUESTIONS = """Nora keeps two parrots in her kitchen. The green one can say good morning.
Who keeps parrots? | Nora
Where does Nora keep parrots? | in her kitchen
What colour are her curtains? |

Emil waters the roses at seven. He carries the water in an old bucket.
Who waters the roses? | Emil
When does Emil water the roses? | at seven
What does he carry the water in? | an old bucket

The market opens on Friday. Ida sells cheese under a blue umbrella.
When does the market open? | on Friday
Who sells cheese? | Ida
How much does the cheese cost? |"""
ASKS = ("who", "what", "when", "where", "why", "which", "how many", "how much", "how long", "how")
OTHER = "another word"

Clicked = tuple[tuple[str, tuple[str, ...]], ...]
"""Sentences, and the tags of their words."""


def clicked(value: object) -> Clicked:
    """Valid tags from a browser's memory of clicks."""
    pairs = value[: TEXTS.most] if isinstance(value, list | tuple) else ()
    pairs = [pair for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)]
    return tuple((line, tuple(tag[: LABEL.most] for tag in tags)) for line, tags in pairs if _are_tags(tags))


def _are_tags(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(tag, str) and tag.strip() for tag in value)


def sentences_in(typed: str) -> list[str]:
    """The sentences typed, one per line, without repeats."""
    return [line for line in dict.fromkeys(split_lines(typed)) if split_words(line)]


def tags_of(line: str, clicks: Clicked) -> tuple[str, ...]:
    """The tags of the words of a typed sentence."""
    words, tags = split_words(line), dict(clicks).get(line, ())
    return tags if len(tags) == len(words) else (OUTSIDE,) * len(words)


def read_tags(typed: str, clicks: Clicked) -> list[TaggedSentence]:
    """The typed sentences with their tags. Raises InputError."""
    lines = sentences_in(typed)
    if not lines:
        raise InputError("There are no sentences yet; type or paste some, one per line.")
    TEXTS.check(len(lines), "sentences")
    checked = [limits.check_text(line, "a line") for line in lines]
    return [TaggedSentence(tuple(split_words(line)), tags_of(line, clicks)) for line in checked]


def asks(question: str) -> str:
    """The question word, one of ASKS or OTHER."""
    return next((word for word in sorted(ASKS, key=len, reverse=True) if re.search(rf"\b{word}\b", question.lower())), OTHER)
