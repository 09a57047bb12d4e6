"""How easy a sentence is to read for beginners: short, complete and without unusual signs."""

import re

from explorer.text.corpora import CorpusSentence

EASY = range(5, 13)  # words and signs of a sentence that is read at a glance
_WHOLE = re.compile(r"[A-Z].*[^.!?][.!?]", re.DOTALL)
_PLAIN_SIGNS = re.compile(r"[A-Za-z ,.!?'’]*")


def flaws(one: CorpusSentence) -> int:
    """The number of flaws that make a sentence harder to read: 0 for a short one with only letters and one final mark."""
    too_long = max(0, len(one.words) - EASY.stop + 1)
    too_short = len(one.words) < EASY.start
    shouted = sum(word.isupper() and len(word) > 1 for word in one.words)
    whole = bool(_WHOLE.fullmatch(one.text)) and bool(_PLAIN_SIGNS.fullmatch(one.text))
    return too_long + too_short + shouted + 4 * (not whole)
