"""Byte pair encoding, learned from the app's own sentences."""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from explorer.text.corpora import built_in

MOST = 1000  # merges
END = "·"  # closes the last piece of a word, as in the paper's figure
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
    return learn(Counter(WORD.findall(" ".join(built_in().texts).casefold())), MOST)


def learn(words: Mapping[str, int], most: int) -> tuple[Merge, ...]:
    """Up to `most` merges, each of the pair that is then most frequent: Sennrich et al. 2016, section 3.2, algorithm 1.

    `words` says how often each occurs. Of equally frequent pairs the first by letters is taken.
    """
    cut = {word: split(word) for word in words}
    pairs: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[str]] = defaultdict(set)  # the words that have a pair, or had it

    def count(word: str, times: int) -> None:
        for pair in pairwise(cut[word]):
            pairs[pair] += times
            where[pair].add(word)

    for word, times in words.items():
        count(word, times)
    found: list[Merge] = []
    while len(found) < most and (highest := max(pairs.values(), default=0)):
        best = min(pair for pair, times in pairs.items() if times == highest)
        found.append(Merge(best, highest))
        for word in tuple(where[best]):
            count(word, -words[word])
            cut[word] = join(cut[word], best)
            count(word, words[word])
    return tuple(found)


def split(word: str) -> tuple[str, ...]:
    """A word as single letters, the last one with the mark of the end."""
    return (*word[:-1], word[-1] + END)


def join(pieces: Sequence[str], pair: Pair) -> tuple[str, ...]:
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
        if merge.pair[0] in pieces:
            pieces = join(pieces, merge.pair)
    return pieces
