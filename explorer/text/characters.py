"""The characters of a text: invisible ones, and those of a file of unknown encoding."""

import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from functools import lru_cache

from explorer.core.errors import InputError

SAMPLE = 2_000  # characters looked at for signs of a binary file
NO_TEXT = "The file is not text that can be read, but perhaps of Excel, or a zip or PDF; save it as CSV in UTF-8 and try again."

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


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and the name of its encoding. Raises InputError when it is not a text."""
    text, name = _decode(data)
    odd = sum(unicodedata.category(letter) in ("Cc", "Cn", "Co") and letter not in "\t\n\r" for letter in text[:SAMPLE])
    if "\0" in text or (not name.startswith("UTF-8") and odd > len(text[:SAMPLE]) / 50):  # all bytes make some text in the others
        raise InputError(NO_TEXT)
    return text, name


def _decode(data: bytes) -> tuple[str, str]:
    """The text in the first encoding in which all bytes can be read, or nearly all in UTF-8; a zero byte if there is none."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    # cp1252 is what Excel writes in the West; it lacks five bytes, latin-1 none, so it never fails.
    encodings = [("utf-8-sig", "UTF-8"), ("cp1252", "Windows-1252"), ("latin-1", "Windows-1252")]
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        encodings = [("utf-16", "UTF-16")]
    elif even or odd:  # no text in one byte a character has zeros; in UTF-16, commas and line ends have one on the same side
        wide = "utf-16-le" if odd > even else "utf-16-be"
        encodings = [(wide, "UTF-16")] if max(even, odd) > 8 * min(even, odd) else []
    for encoding, name in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(encoding), name
        text = data.decode(encoding, "replace") if encoding == "utf-8-sig" else ""
        broken = text.count("\ufffd")
        if len(text) - len(text.encode("ascii", "ignore")) > 3 * broken:
            return text, f"UTF-8 with {broken:,} broken character{'s' * (broken != 1)}"
    return "\0", ""
