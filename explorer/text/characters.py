"""What is done to a text character by character, as quickly as a text of many megabytes needs it."""

import functools
import unicodedata
from collections.abc import Callable

REMEMBERED = 4_096  # characters
BEGINNING = 64  # characters: nearly every text shows there that it has something to read


class EachCharacter:
    """For `str.translate`: what each character becomes, '' for nothing, found out once for those that came last."""

    def __init__(self, becomes: Callable[[str], str]) -> None:
        self._becomes = functools.lru_cache(REMEMBERED)(lambda code: becomes(chr(code)))

    def __getitem__(self, code: int) -> str:
        """As translate asks."""
        return self._becomes(code)


def _if_seen(character: str) -> str:
    return character if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf") else ""


_SEEN = EachCharacter(_if_seen)


def visible(text: str) -> str:
    """A text without control and format characters, as BERT's tokenizer drops them; blanks stay."""
    return text.translate(_SEEN)


def has_visible_characters(text: str) -> bool:
    """Whether anything is left once they and the blanks are dropped."""
    return bool(visible(text[:BEGINNING]).strip() or visible(text[BEGINNING:]).strip())
