"""Names that look alike on a screen, whatever characters they use: skeletons, as in UTS 39 of Unicode."""

import functools
import unicodedata

from explorer.core.paths import ASSETS

ACCENTS = 2  # per letter: Vietnamese, Arabic and Thai use two, no language three
_ALIKE = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o", "m": "rn"})


@functools.cache
def _table() -> dict[int, str]:
    """Other characters → the Latin letter that they look like."""
    lines = (ASSETS / "classroom" / "lookalikes.txt").read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {ord(other): latin for latin, others in pairs for other in others}


def as_latin(text: str) -> str:
    """The text with look-alike characters replaced by Latin letters."""
    return unicodedata.normalize("NFKC", text).translate(_table())


@functools.lru_cache(1_000)
def skeleton(name: str) -> str:
    """A string that is equal for names that look alike on a projector; case, blanks and punctuation do not count."""
    folded = as_latin(as_latin(name).casefold()).translate(_ALIKE)
    return "".join(one for one in folded if unicodedata.category(one)[0] not in "ZP")


def has_piled_accents(text: str) -> bool:
    """Whether a letter has more than ACCENTS accents, which would cover the lines above and below."""
    pile = 0
    for character in unicodedata.normalize("NFD", text):
        pile = pile + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if pile > ACCENTS:
            return True
    return False
