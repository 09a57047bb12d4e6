"""Character-wise processing, fast enough for texts of many megabytes."""

import functools
import unicodedata
from collections.abc import Callable

REMEMBERED = 4_096  # characters
BEGINNING = 64  # characters: nearly every text has something visible there


class EachCharacter:
    """A table for `str.translate` that computes the replacement of a character ('' removes it), cached for the latest ones."""

    def __init__(self, becomes: Callable[[str], str]) -> None:
        self._becomes = functools.lru_cache(REMEMBERED)(lambda code: becomes(chr(code)))

    def __getitem__(self, code: int) -> str:
        """The replacement of a character, by its code point."""
        return self._becomes(code)


def _if_seen(character: str) -> str:
    return character if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf") else ""


_SEEN = EachCharacter(_if_seen)


def visible(text: str) -> str:
    """The text without control and format characters, as BERT's tokenizer drops them; whitespace stays."""
    return text.translate(_SEEN)


def has_visible_characters(text: str) -> bool:
    """Whether a text has any character besides whitespace, control and format characters."""
    return bool(visible(text[:BEGINNING]).strip() or visible(text[BEGINNING:]).strip())
