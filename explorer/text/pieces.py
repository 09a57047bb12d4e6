"""How tokenizers write their pieces, and how they are shown."""

import re
from collections.abc import Collection
from enum import Enum
from functools import lru_cache

from explorer.text.encoding import MASK


class Writing(Enum):
    """The notation of a vocabulary's pieces; the value is its mark."""

    WORDPIECE = "##"  # before a piece that continues a word: BERT (Wu et al. 2016)
    SENTENCEPIECE = "▁"  # for the space before a word (Kudo & Richardson 2018)
    BYTES = "Ġ"  # also for the space before a word, with a letter for each byte: GPT-2 (Radford et al. 2019)


MEANINGS = {
    "##": "`##` continues the word before it",
    "▁": "`▁` is the space before a word",
    "Ġ": "`Ġ` is the space before a word",
    "Ċ": "`Ċ` is a new line",
    "ĉ": "`ĉ` is a tab",
    "⟨": "`⟨ ⟩` holds bytes of a character that is cut in pieces",
}
_KEPT = {" ": "Ġ", "\n": "Ċ", "\t": "ĉ"}  # invisible characters stay a mark


def writing_of(vocabulary: Collection[str]) -> Writing:
    """The notation of most marked pieces of a vocabulary, WORDPIECE without any."""
    return max(Writing, key=lambda writing: sum(piece.startswith(writing.value) for piece in vocabulary))


def show_piece(piece: str, writing: Writing) -> str:
    """A piece as the characters it covers, with its mark; incomplete bytes of a character are hexadecimal digits in ⟨ ⟩."""
    if writing is not Writing.BYTES or not all(letter in _bytes() for letter in piece):
        return piece  # special tokens are not encoded
    # Bytes that form no character become lone surrogates, which no text contains.
    text = bytes(_bytes()[letter] for letter in piece).decode(errors="surrogateescape")
    text = "".join(_KEPT.get(letter, letter) for letter in text)
    hidden = "[\udc80-\udcff\x00-\x1f\x7f-\x9f\xad]+"  # control characters are invisible too
    return re.sub(hidden, lambda cut: f"⟨{cut[0].encode(errors='surrogateescape').hex(' ').upper()}⟩", text)


def bare(piece: str) -> str:
    """A shown piece without its mark."""
    return re.sub(r"^(##|▁|Ġ)(?=.)", "", piece, flags=re.DOTALL)


def meanings(pieces: Collection[str]) -> list[str]:
    """What the marks in these shown pieces mean, in Markdown."""
    return [meaning for mark, meaning in MEANINGS.items() if any(mark in piece for piece in pieces)]


def with_own_mask(text: str, mask: str) -> tuple[str, list[int]]:
    """The text with the model's own mask token in place of [MASK], and the end of each in it."""
    ends: list[int] = []
    parts = text.split(MASK)
    for part in parts[:-1]:
        ends.append((ends[-1] if ends else 0) + len(part) + len(mask))
    return mask.join(parts), ends


@lru_cache(maxsize=1)
def _bytes() -> dict[str, int]:
    """The byte of each letter in the notation BYTES: visible ones stand for themselves, the others are numbered from 256 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(hidden)}
