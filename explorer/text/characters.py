"""Character-wise processing, fast enough for texts of many megabytes."""

import re
import unicodedata
from collections.abc import Callable

REMEMBERED = 4_096  # characters

_LETTER = re.compile(r"\w")


class EachCharacter(dict[int, str]):
    """A table for `str.translate` that computes the replacement of a character ('' removes it) when it first occurs."""

    def __init__(self, replace: Callable[[str], str]) -> None:
        super().__init__()
        self._replace = replace

    def __missing__(self, code: int) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        self[code] = replacement = self._replace(chr(code))
        return replacement


_VISIBLE = EachCharacter(lambda letter: letter if letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cf") else "")


def visible(text: str) -> str:
    """The text without control and format characters, as BERT's tokenizer drops them; whitespace stays."""
    return text if text.isprintable() else text.translate(_VISIBLE)


def has_visible_characters(text: str) -> bool:
    """Whether a text has any character besides whitespace, control and format characters."""
    return bool(_LETTER.search(text) or visible(text).strip())
