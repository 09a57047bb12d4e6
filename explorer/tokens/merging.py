"""Byte pair encoding, learned from the app's own sentences. Pure Python."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from explorer.core.paths import ASSETS

MOST = 1000  # merges
END = "·"  # closes the last piece of a word, as in the paper's figure
SENTENCE = re.compile(r"^# text = (.*)$", re.MULTILINE)
WORD = re.compile(r"[a-z]+")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Merge:
    """Two neighbouring pieces that are made one, and how often they stood side by side then."""

    pair: Pair
    count: int


@functools.cache
def own_merges() -> tuple[Merge, ...]:
    """The first MOST merges of the words in the built-in corpus."""
    text = (ASSETS / "corpus" / "sentences.conllu").read_text("utf-8")
    return learn(Counter(WORD.findall(" ".join(SENTENCE.findall(text)).casefold())), MOST)


def learn(words: Mapping[str, int], most: int) -> tuple[Merge, ...]:
    """Up to `most` merges, each of the pair that is then most frequent: Sennrich et al. 2016, section 3.2, algorithm 1.

    `words` says how often each occurs. Of equally frequent pairs the first by letters is taken.
    """
    cut = {word: split(word) for word in words}
    pairs = _counts(words, cut.values())
    found: list[Merge] = []
    while pairs and len(found) < most:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        found.append(Merge(best, pairs[best]))
        for word, pieces in cut.items():
            if not _has(pieces, best):
                continue
            cut[word] = merged(pieces, best)
            for one in pairwise(pieces):
                pairs[one] -= words[word]
            for one in pairwise(cut[word]):
                pairs[one] += words[word]
        pairs = +pairs  # without those that are gone
    return tuple(found)


def split(word: str) -> tuple[str, ...]:
    """A word as single letters, the last one with the mark of the end."""
    return (*word[:-1], word[-1] + END)


def merged(pieces: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """The pieces with the pair made one wherever it stands, from left to right."""
    made: list[str] = []
    place = 0
    while place < len(pieces):
        both = tuple(pieces[place : place + 2]) == pair
        made.append("".join(pair) if both else pieces[place])
        place += 2 if both else 1
    return tuple(made)


def apply(word: str, merges: Iterable[Merge]) -> tuple[str, ...]:
    """The pieces of a word after the merges, in their order."""
    pieces = split(word)
    for merge in merges:
        if _has(pieces, merge.pair):
            pieces = merged(pieces, merge.pair)
    return pieces


def _has(pieces: Sequence[str], pair: Pair) -> bool:
    return pair[0] in pieces and pair in pairwise(pieces)


def _counts(words: Mapping[str, int], cut: Iterable[Sequence[str]]) -> Counter[Pair]:
    """How often every two pieces stand side by side."""
    found: Counter[Pair] = Counter()
    for (_, times), pieces in zip(words.items(), cut, strict=True):
        for pair in pairwise(pieces):
            found[pair] += times
    return found
