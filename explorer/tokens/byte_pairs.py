"""Byte pair encoding, learned from the app's own sentences, beside the pieces of the model."""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from explorer.text.corpora import built_in
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import number
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, caption, part, sentence

MOST_MERGES = 1000
MOST_WORDS = 24
LAST = 12  # merges that are listed
END = "·"  # closes the last piece of a word, as in the paper's figure
WORD = re.compile(r"[a-z]+")
CUT = [Column("word", "name"), Column("by byte pairs", "text"), Column("by this model", "text")]
MERGES = [
    Column("merge", "name"),
    Column("two pieces", "text"),
    Column("become", "text"),
    Column("times seen", "number", name="times"),
]

Pair = tuple[str, str]


@dataclass(frozen=True)
class Merge:
    """Two neighbouring pieces that are made one, and how often they were neighbours then."""

    pair: Pair
    count: int


class BytePairs(View):
    name, question = "tokens/byte-pairs", "How would byte pairs split the same words?"
    layout = (row(col("cut", "merges", "about", width=3), col("listed", "help", width=2)),)
    merges: int = number(200, "Number of merges", low=0, high=MOST_MERGES, step=10)
    about = sentence()
    cut = part("strips")
    listed = part("strips")
    help = caption(
        "**Byte pair encoding** (BPE; Sennrich et al. 2016, section 3.2; GPT and RoBERTa use it) begins with single letters "
        "and repeatedly merges the most frequent pair of neighbours. Move the slider and watch the pieces grow. · closes a "
        "word. A new word is split by the same merges in the same order. **WordPiece** (Schuster & Nakajima "
        "2012), which BERT uses, learns in the same way, but merges the pair that makes the text most probable, not the most "
        "frequent pair. WordPiece splits a new word from the left, each time with the longest known piece; ## continues a word. "
        "These merges are learned from the app's own sentences, a few thousand words; a model's from billions."
    )

    def compute(self, subject: Subject) -> Content:
        done = own_merges()[: self.merges]
        words = _words(subject)
        cut = [apply(word, done) for word in words]
        rows = [Row([word, " ".join(one), " ".join(own)]) for (word, own), one in zip(words.items(), cut, strict=True)]
        mean, own_mean = (sum(map(len, pieces)) / max(1, len(words)) for pieces in (cut, words.values()))
        known = subject.model.capabilities.vocab_size
        return {
            "about": f"After {len(done):,} merges each word has {mean:.1f} pieces on average; this model, with its vocabulary "
            f"of {known:,}, makes {own_mean:.1f}.",
            "cut": strip_table(CUT, rows, "the words in both cuts"),
            "listed": _list_merges(done),
        }

    def unless(self, subject: Subject) -> str:
        return "" if _words(subject) else "No word of letters to split. Type one."

    def finding(self, subject: Subject) -> Finding:
        word = max(_words(subject), key=len)
        pieces = apply(word, own_merges()[: self.merges])
        named = ", ".join(f"“{piece}”" for piece in pieces)
        cut = f"“{word}” is {len(pieces)} piece{'s' * (len(pieces) != 1)}: {named}"
        return Finding(f"Letters merged into pieces, the most frequent pair first: after {self.merges:,} merges {cut}.")


def _words(subject: Subject) -> dict[str, list[str]]:
    """The first MOST_WORDS different words of the input, in small letters, with the model's pieces."""
    encoding, found = subject.trace.encoding, dict[str, list[str]]()
    for group in encoding.text_words:
        word = encoding.word(group).casefold()
        if word.isalpha() and len(found) < MOST_WORDS:
            found.setdefault(word, [encoding.tokens[token] for token in group])
    return found


def _list_merges(done: tuple[Merge, ...]) -> dict[str, Any]:
    newest = list(enumerate(done, start=1))[: -LAST - 1 : -1]
    rows = [Row([f"{place:,}", " + ".join(merge.pair), "".join(merge.pair), merge.count]) for place, merge in newest]
    return strip_table(MERGES, rows, "the last merges")


@functools.cache
def own_merges() -> tuple[Merge, ...]:
    return learn(Counter(WORD.findall(" ".join(built_in().texts).casefold())), MOST_MERGES)


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
