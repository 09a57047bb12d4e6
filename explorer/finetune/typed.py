"""Tagged words and questions as a person types them."""

import re

from explorer.core.errors import InputError
from explorer.core.limits import LABEL, TEXTS
from explorer.finetune.opening import OUTSIDE, Clicked
from explorer.text import limits
from explorer.text.lines import split_lines
from explorer.text.tagged import TaggedSentence, split_words

ASKS = ("who", "what", "when", "where", "why", "which", "how many", "how much", "how long", "how")
OTHER = "another word"


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
        raise InputError("The box has no sentences yet; type or paste some, one per line.")
    TEXTS.check(len(lines), "sentences")
    checked = [limits.check_text(line, "a line") for line in lines]
    return [TaggedSentence(tuple(split_words(line)), tags_of(line, clicks)) for line in checked]


def asks(question: str) -> str:
    """The question word, one of ASKS or OTHER."""
    return next((word for word in sorted(ASKS, key=len, reverse=True) if re.search(rf"\b{word}\b", question.lower())), OTHER)
