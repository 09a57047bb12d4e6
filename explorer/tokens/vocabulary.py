"""The vocabulary: its search, the nearest neighbours of a piece, and byte pair encoding, which makes another one."""

import fnmatch
import functools
import glob
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

from explorer.analysis.similarity import nearest
from explorer.core.limits import QUERY
from explorer.text import limits
from explorer.text.corpora import built_in
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import memory, number, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, View, caption, part, sentence, settle

MOST_FOUND = 200
MOST_NEAR = 12
FOUND = [Column("piece", "name"), Column("id", "number")]
NEAR = [Column("id", "number"), Column("cosine", "number", form=".3f"), Column("", "bar")]
MOST_MERGES = 1000
MOST_WORDS = 24
LAST = 12  # merges that are listed
END = "·"  # closes the last piece of a word, as in the paper's figure
WORD = re.compile(r"[a-z]+")
CUT = [Column("word", "name"), Column("by byte pairs", "text"), Column("by this model", "text")]
TIMES = Column("times seen", "number", name="times")
MERGES = [Column("merge", "name"), Column("two pieces", "text"), Column("become", "text"), TIMES]
Pair = tuple[str, str]


def _two_ids(value: Any) -> tuple[int, int] | None:
    return tuple(value) if limits.is_list(value, 2) and all(type(id) is int and id >= 0 for id in value) else None


class Vocabulary(View):
    name, question = "tokens/vocabulary", "Which pieces does the model know?"
    layout = (row(col("query", "count", "pieces", width=5), col("nearest", "help", width=6)),)
    query: str = text(
        "play", "Search (play*, *tion, ##ing, an id)", limit=QUERY, max_length=QUERY.most, max_lines=1, elem_classes="inline long"
    )
    count = sentence()
    pieces = part("strips", height=300, marks=True)
    nearest = part("strips")
    help = caption(
        "Nearest by cosine (−1 to 1) in the word embedding table, the vectors that the model starts from. Neighbours are "
        "similar in use or spelling; context plays no part. Click a piece to see its neighbours."
    )
    detour: tuple[int, int] | None = memory(None, kept=_two_ids)  # (id of the selected token, id of the clicked piece)

    def compute(self, subject: Subject) -> Content:
        vocabulary, ids, asked = subject.model.vocabulary, self._matches(subject), self._asked(subject)
        count = "1 piece matches" if len(ids) == 1 else f"{len(ids):,} pieces match"
        few = f", the first {MOST_FOUND} are shown" * (len(ids) > MOST_FOUND)
        near = [Row([vocabulary[id], id, cosine, max(cosine, 0.0)], token=id) for id, cosine in _neighbours(subject, asked)]
        named = Column(f"nearest to “{vocabulary[asked]}”", "name", name="nearest_piece")
        return {
            "count": f"{count}{few}." if ids else "No piece matches. Try fewer letters.",
            "pieces": strip_table(FOUND, [Row([vocabulary[id], id], token=id) for id in ids[:MOST_FOUND]], "pieces found"),
            "nearest": strip_table([named, *NEAR], near, "nearest pieces"),
        }

    def on_pieces(self, subject: Subject, index: int) -> Change:
        """Show the neighbors of the piece with this id, until another token is selected."""
        id = limits.check_integer(index, "the id", 0, subject.model.capabilities.vocab_size - 1)
        return settle(detour=(subject.trace.ids[subject.token], id))

    on_nearest = on_pieces

    def finding(self, subject: Subject) -> Finding:
        vocabulary, id = subject.model.vocabulary, self._asked(subject)
        (near, cosine), count = _neighbours(subject, id)[0], f"{len(vocabulary):,}"
        return Finding(f"“{vocabulary[id]}” is piece {id} of {count}; its nearest is “{vocabulary[near]}” (cosine {cosine:.2f}).")

    def _asked(self, subject: Subject) -> int:
        """The id whose neighbours are shown: of the piece last clicked, the selected token, or the best match of the search."""
        token, vocabulary = subject.trace.ids[subject.token], subject.model.vocabulary
        if self.detour and self.detour[0] == token and self.detour[1] < len(vocabulary):
            return self.detour[1]
        found = self._matches(subject) if subject.selection.token is None else []
        return found[0] if found else token

    def _matches(self, subject: Subject) -> list[int]:
        """The ids that match, found once for the finding and two tables."""
        return subject.trace.once(("pieces", self.query), lambda: search(subject.model.vocabulary, self.query))


def _neighbours(subject: Subject, id: int) -> list[tuple[int, float]]:
    """The ids of the nearest pieces with their cosines, found once for the table and the finding."""
    return subject.trace.once(("nearest pieces", id), lambda: nearest(subject.model.word_table, id, MOST_NEAR))


def search(pieces: Sequence[str], query: str) -> list[int]:
    """The ids of the pieces that match, best first: the piece itself, those that begin with it, those that contain it.

    A number also finds the piece with that id. `##` at the start finds only pieces that continue a word; `*` stands for any
    letters, as in `un*` and `*ing`. Case is ignored.
    """
    query = query.strip().casefold()
    if "*" in query.strip("#"):
        fits = re.compile(fnmatch.translate("*".join(map(glob.escape, query.split("*"))))).match  # does not backtrack past a *
        return [id for id, piece in enumerate(pieces) if fits(piece.casefold())]
    folded = [piece.casefold() for piece in pieces]

    def rank(id: int) -> int:
        piece, inside = pieces[id].lstrip("Ġ▁").casefold(), bare(pieces[id]).casefold()  # without the marks for a space
        fits = (query in (folded[id], piece), piece.startswith(query), inside.startswith(query), True)
        return fits.index(True)

    found = [id for id, piece in enumerate(folded) if (piece.startswith(query) if query.startswith("##") else query in piece)]
    found.sort(key=rank)
    if query.isdecimal() and int(query) < len(pieces):
        found = [int(query), *(id for id in found if id != int(query))]
    return found


class BytePairs(View):
    name, question = "tokens/byte-pairs", "How would byte pairs split the same words?"
    layout = (row(col("cut", "merges", "about", width=3), col("listed", "help", width=2)),)
    merges: int = number(200, "Number of merges", low=0, high=MOST_MERGES, step=10)
    about = sentence()
    cut = part("strips")
    listed = part("strips")
    help = caption(
        "**Byte pair encoding** (BPE; Sennrich et al. 2016, section 3.2; GPT and RoBERTa use it) begins with single letters and "
        "repeatedly merges the most frequent pair of neighbours. · closes a word. A new word is split by the same merges in the "
        "same order. **WordPiece** (Schuster & Nakajima 2012), which BERT uses, merges the pair that makes the text most "
        "probable instead. It splits a new word from the left, each time with the longest known piece; ## continues a word. "
        "These merges are learned from the app's own sentences, a few thousand words; a model's from billions."
    )

    def compute(self, subject: Subject) -> Content:
        (merges, known), words = own_merges(), _words(subject)
        done = merges[: self.merges]
        pieces, size = pieces_of(words, done), subject.model.capabilities.vocab_size
        mean, own_mean = (sum(map(len, every)) / max(1, len(words)) for every in (pieces, words.values()))
        cut = [Row([word, " ".join(one), " ".join(words[word])]) for word, one in zip(words, pieces, strict=True)]
        merged = []
        for place in range(len(done), max(0, len(done) - LAST), -1):
            pair, before = done[place - 1], done[: place - 1]
            merged.append(Row([f"{place:,}", " + ".join(pair), "".join(pair), count(pair, known, before)]))
        return {
            "about": f"After {len(done):,} merges each word has {mean:.1f} pieces on average; this model, with its vocabulary "
            f"of {size:,}, makes {own_mean:.1f}.",
            "cut": strip_table(CUT, cut, "the words in both cuts"),
            "listed": strip_table(MERGES, merged, "the last merges"),
        }

    def unless(self, subject: Subject) -> str:
        return "" if _words(subject) else "No word of letters to split. Type one."

    def finding(self, subject: Subject) -> Finding:
        word = max(_words(subject), key=len)
        (pieces,) = pieces_of([word], own_merges()[0][: self.merges])
        cut = f"“{word}” is {len(pieces)} piece{'s' * (len(pieces) != 1)}: {', '.join(f'“{piece}”' for piece in pieces)}"
        return Finding(f"Letters merged into pieces, the most frequent pair first: after {self.merges:,} merges {cut}.")


def _words(subject: Subject) -> dict[str, list[str]]:
    """The first MOST_WORDS different words of the input, in small letters, with the model's pieces."""
    encoding, found = subject.trace.encoding, dict[str, list[str]]()
    for group in encoding.text_words:
        word = encoding.word(group).casefold()
        if word.isalpha() and len(found) < MOST_WORDS:
            found.setdefault(word, [encoding.tokens[token] for token in group])
    return found


@functools.cache
def own_merges() -> tuple[tuple[Pair, ...], Counter[str]]:
    """The merges, and the words of the app's own sentences that they are learned from."""
    words = Counter(WORD.findall(" ".join(built_in().texts).casefold()))
    return learn(words, MOST_MERGES), words


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
