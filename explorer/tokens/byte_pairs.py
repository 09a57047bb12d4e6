"""Byte pair encoding, learned from the app's own sentences, beside the pieces of the model."""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

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
        pieces = pieces_of(words, done)
        rows = [Row([word, " ".join(one), " ".join(own)]) for (word, own), one in zip(words.items(), pieces, strict=True)]
        mean, own_mean = (sum(map(len, every)) / max(1, len(words)) for every in (pieces, words.values()))
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
        (pieces,) = pieces_of([word], own_merges()[: self.merges])
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


def _list_merges(done: Sequence[Pair]) -> dict[str, Any]:
    newest = list(enumerate(done, start=1))[: -LAST - 1 : -1]
    rows = [
        Row([f"{place:,}", " + ".join(pair), "".join(pair), count(pair, own_words(), done[: place - 1])])
        for place, pair in newest
    ]
    return strip_table(MERGES, rows, "the last merges")


@functools.cache
def own_words() -> Counter[str]:
    return Counter(WORD.findall(" ".join(built_in().texts).casefold()))


@functools.cache
def own_merges() -> tuple[Pair, ...]:
    return learn(own_words(), MOST_MERGES)


def learn(words: Counter[str], most: int) -> tuple[Pair, ...]:
    """Up to `most` merges, each of the pair that is then most frequent (Sennrich et al. 2016, algorithm 1), by `tokenizers`."""
    learner = Tokenizer(BPE(end_of_word_suffix=END))
    learner.pre_tokenizer = WhitespaceSplit()
    letters = len({*"".join(words)})
    trainer = BpeTrainer(vocab_size=most + 2 * letters, end_of_word_suffix=END, special_tokens=[], show_progress=False)
    learner.train_from_iterator(words.elements(), trainer)
    return tuple((left, right) for left, right in json.loads(learner.to_str())["model"]["merges"])[:most]


def pieces_of(words: Iterable[str], merges: Sequence[Pair]) -> list[list[str]]:
    """The pieces of words, each of one letter or more, after the merges."""
    words = list(words)
    letters = [piece for word in words for piece in (*word[:-1], word[-1] + END)]
    known = dict.fromkeys([*letters, *(piece for pair in merges for piece in (*pair, "".join(pair)))])
    model = BPE({piece: id for id, piece in enumerate(known)}, list(merges), end_of_word_suffix=END)
    return [[token.value for token in model.tokenize(word)] for word in words]


def count(pair: Pair, words: Counter[str], merges: Sequence[Pair]) -> int:
    """How often the two pieces are neighbours in the words after the merges."""
    having = [word for word in words if "".join(pair).removesuffix(END) in word]
    pieces = zip(having, pieces_of(having, merges), strict=True)
    return sum(words[word] * sum(one == pair for one in pairwise(own)) for word, own in pieces)
