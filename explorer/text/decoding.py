"""The text of a file in an encoding that nobody named."""

import unicodedata
from collections.abc import Iterator

from explorer.core.errors import InputError

BINARY = {
    b"PK": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a gzip file",
}
MARKS = {b"\xef\xbb\xbf": ("utf-8-sig", "UTF-8"), b"\xff\xfe": ("utf-16", "UTF-16"), b"\xfe\xff": ("utf-16", "UTF-16")}
SAMPLE = 2_000  # characters looked at for signs of a binary file


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and the name of its encoding. Raises InputError when it is not a text."""
    for start, kind in BINARY.items():
        if data.startswith(start):
            raise InputError(f"The file is {kind}, not text; save it as CSV and try again.")
    text, name = next(_readings(data), ("\0", ""))
    if "\0" in text or (name == "UTF-16" and _is_noise(text[:SAMPLE])):
        raise InputError("The file is not text that can be read; save it as CSV in UTF-8 and try again.")
    return text, name


def _readings(data: bytes) -> Iterator[tuple[str, str]]:
    """The text in each encoding in which all bytes can be read, with the encoding's name."""
    for encoding, name in _candidates(data):
        try:
            yield data.decode(encoding), name
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace") if encoding == "utf-8" else ""
            broken = text.count("\ufffd")
            if len(text) - len(text.encode("ascii", "ignore")) > 3 * broken:  # few bytes are wrong
                yield text, f"UTF-8 with {broken:,} broken character{'s' * (broken != 1)}"


def _candidates(data: bytes) -> list[tuple[str, str]]:
    """Encodings to try, with their names: by the mark at the beginning, or else by where zero bytes are."""
    for mark, marked in MARKS.items():
        if data.startswith(mark):
            return [marked]
    even, odd = data[::2].count(0), data[1::2].count(0)
    if even or odd:  # no text in one byte a character has zeros; in UTF-16, commas and line ends have one on the same side
        return [("utf-16-le" if odd > even else "utf-16-be", "UTF-16")] if max(even, odd) > 8 * min(even, odd) else []
    # cp1252 is what Excel writes in the West; it lacks five bytes, latin-1 none, so it never fails.
    return [("utf-8", "UTF-8"), ("cp1252", "Windows-1252"), ("latin-1", "Windows-1252")]


def _is_noise(text: str) -> bool:
    """Whether the characters include many that no text has: controls, and places where Unicode has no character."""
    strange = sum(unicodedata.category(letter) in ("Cc", "Cn", "Co") and letter not in "\t\n\r" for letter in text)
    return strange > len(text) / 50
