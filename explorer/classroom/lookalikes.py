"""Names that look alike to a class, whatever they are written with: skeletons, as in UTS 39 of Unicode."""

import functools
import unicodedata

from explorer.base.paths import ASSETS

ACCENTS = 2  # on a letter: Vietnamese, Arabic and Thai write two, and nobody three
_ALIKE = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o", "m": "rn"})


@functools.cache
def _table() -> dict[int, str]:
    """The Latin letter of every other one that looks like it."""
    lines = (ASSETS / "classroom" / "lookalikes.txt").read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {ord(other): latin for latin, others in pairs for other in others}


def as_latin(text: str) -> str:
    """A text with the Latin letters in place of those that look like them."""
    return unicodedata.normalize("NFKC", text).translate(_table())


@functools.lru_cache(1_000)
def skeleton(name: str) -> str:
    """What is the same for all names that look alike on a projector: capitals, blanks and punctuation do not count."""
    folded = as_latin(as_latin(name).casefold()).translate(_ALIKE)
    return "".join(one for one in folded if unicodedata.category(one)[0] not in "ZP")


def has_piled_accents(text: str) -> bool:
    """Whether a letter bears more accents than ACCENTS, which hide the lines above and below."""
    pile = 0
    for character in unicodedata.normalize("NFD", text):
        pile = pile + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if pile > ACCENTS:
            return True
    return False
