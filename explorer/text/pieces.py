"""How tokenizers write their pieces, and how a person reads them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum
from functools import lru_cache

from explorer.text.encoding import MASK


class Writing(Enum):
    """Whose way a vocabulary is written in; the value is its mark."""

    WORDPIECE = "##"  # before a piece that continues a word: BERT's (Wu et al. 2016)
    SENTENCEPIECE = "▁"  # for the space before a word (Kudo & Richardson 2018)
    BYTES = "Ġ"  # the same, where every other byte is a letter of its own too: GPT-2's (Radford et al. 2019)


NEW_LINE, TAB = "Ċ", "ĉ"  # as BYTES writes them
MEANINGS = {
    "##": "`##` continues the word before it",
    "▁": "`▁` is the space before a word",
    "Ġ": "`Ġ` is the space before a word",
    NEW_LINE: "`Ċ` is a new line",
    TAB: "`ĉ` is a tab",
    "⟨": "`⟨ ⟩` holds bytes of a character that is cut in pieces",
}
_KEPT = {" ": "Ġ", "\n": NEW_LINE, "\t": TAB}  # what cannot be seen stays a mark


def writing_of(vocabulary: Iterable[str]) -> Writing:
    """The way in which most pieces of a vocabulary that have a mark are written."""
    marks = {writing.value: writing for writing in Writing}
    counted = Counter(mark for piece in vocabulary for mark in marks if piece.startswith(mark))
    return marks[max(counted, key=counted.__getitem__)] if counted else Writing.WORDPIECE


def shown(piece: str, writing: Writing) -> str:
    """A piece as the characters that it covers, with its mark; bytes of no whole character stand in ⟨ ⟩ as hexadecimal digits."""
    if writing is not Writing.BYTES or not all(letter in _bytes() for letter in piece):
        return piece  # special tokens are written as they are
    # Bytes that are no character become lone surrogates, which no text has.
    text = bytes(_bytes()[letter] for letter in piece).decode(errors="surrogateescape")
    text = "".join(_KEPT.get(letter, letter) for letter in text)
    hidden = "[\udc80-\udcff\x00-\x1f\x7f-\x9f\xad]+"  # nor can control characters be seen
    return re.sub(hidden, lambda cut: f"⟨{cut[0].encode(errors='surrogateescape').hex(' ').upper()}⟩", text)


def bare(piece: str) -> str:
    """A shown piece without its mark."""
    return re.sub(r"^(##|▁|Ġ)(?=.)", "", piece, flags=re.DOTALL)


def meanings(pieces: Collection[str]) -> list[str]:
    """What the marks mean that occur in shown pieces, in Markdown."""
    return [meaning for mark, meaning in MEANINGS.items() if any(mark in piece for piece in pieces)]


def with_own_mask(text: str, mask: str) -> tuple[str, list[int]]:
    """A text with the model's own mask token where [MASK] was typed, and where each one ends in it."""
    ends: list[int] = []
    parts = text.split(MASK)
    for part in parts[:-1]:
        ends.append((ends[-1] if ends else 0) + len(part) + len(mask))
    return mask.join(parts), ends


@lru_cache(maxsize=1)
def _bytes() -> dict[str, int]:
    """The byte that each letter stands for in BYTES: those that can be seen are themselves, the others follow from 256 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(hidden)}
