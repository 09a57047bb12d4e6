"""Invisible characters of texts, fast enough for many megabytes."""

import re
import unicodedata
from functools import lru_cache

_LETTER = re.compile(r"\w")


@lru_cache(4_096)
def _is_kept(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cf")


def visible(text: str) -> str:
    """The text without control and format characters, as BERT's tokenizer drops them; whitespace stays."""
    return text if text.isprintable() else "".join(filter(_is_kept, text))


def has_visible_characters(text: str) -> bool:
    """Whether a text has any character besides whitespace, control and format characters."""
    return bool(_LETTER.search(text) or visible(text).strip())
