"""Search by meaning: tokens of a corpus similar to one of the input, by hidden state or head output."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import HITS
from explorer.corpus.compute.plain import flaws
from explorer.corpus.compute.reading import is_read
from explorer.corpus.compute.search import Found, Hit, Query, cosines_to, search_in_steps
from explorer.corpus.source import LookUp, clicked_sense, cut, senses_to_click
from explorer.text import limits
from explorer.text.corpora import Corpus, CorpusSentence
from explorer.text.dependencies import plain, spell_out
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.settings import choice, number
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import stands_out
from explorer.ui.view import Content, Finding, NewInput, Why, button, check, max_error, note, part, read, sentence, verdict

NO_WORDS = ("(begin)", "(end)", "(special)")  # markers in place of a word, which are shared by many tokens
STATE, HEAD = "Hidden state", "Head"
TOLERANCE = 2e-3  # of a cosine: hidden states are kept in half precision, each number within 2^-11 of itself
FEWEST = 0.3  # of the hits, for a shared property to be mentioned
LISTED = 5  # values of a histogram
WITH_WORD, SHOWN = 12, 90  # lines while the corpus is being read, and characters of a line
DEPTH = 0.6  # share of the layers at which the page opens: there words differ more by meaning than by spelling
COMMON = {
    "tag": "Part of speech",
    "relation": "Relation to its head",
    "token": "Token",
    "previous": "Word before",
    "next": "Word after",
}
LOOKED_AT = {"target_tag": "The head looks from here at", "target": "… at the word", "offset": "… so many words on"}


class Search(LookUp):
    """The nearest tokens of a corpus in their sentences, and what they have in common."""

    name, question = "corpus/search", "Where else is something like this?"
    layout = (row(col("senses", "hits", "stop", "progress", "about", "help", "check", width=2), col("common")),)
    senses = part("chips", optional=True)
    hits = part("strips", height=620)
    stop = button("Stop", visible=False)
    progress = part("meter")
    about = sentence(classes="caption")
    help = note("Click a word: its sentence becomes the input.")
    check = check()
    common = part("bars", classes="long-names")
    compare: str = choice((STATE, HEAD), "Compare", more=True)
    limit: int = number(50, "Hits", low=10, high=HITS.most, heard="release", more=True)

    def first(self, subject: Subject) -> Subject:
        """Select a layer high enough for meaning to show, unless one was picked."""
        layers = subject.model.capabilities.layers
        return subject if subject.chosen.picked else subject.select(layer=max(1, round(DEPTH * layers)), picked=False)

    def passes(self, subject: Subject) -> float:
        """The cost of reading the corpus, in passes of the input; 0 if it was read already."""
        corpus = self.corpus
        if corpus is None or is_read(subject.model, corpus, self.query(subject).layer):
            return 0
        return self.one_reading(subject)

    def key(self, subject: Subject) -> Hashable:
        """The cache key of the hits; None without a corpus."""
        if self.corpus is None:
            return None
        query = self.query(subject)
        texts = subject.text_a, subject.text_b
        where = query.token, query.layer, query.head
        return self.name, str(subject.model.checkpoint), texts, where, self.limit, self.corpus.key

    def query(self, subject: Subject) -> Query:
        chosen = subject.selection
        if self.compare == STATE:
            return Query(subject.trace, subject.token, chosen.layer)
        return Query(subject.trace, subject.token, chosen.attention_layer, chosen.head_index)

    def work(self, subject: Subject) -> Generator[tuple[str, float], None, Found]:
        """Read the corpus, unless it was read before, and search it. Raises InputError."""
        steps = search_in_steps(self.query(subject), self.chosen, self.limit)
        return self.remember(subject, (yield from self.reading(steps)))

    def waiting(self, subject: Subject) -> Content:
        """Until the corpus is read: sentences with the word itself, or if there are none the easiest ones."""
        shown = super().waiting(subject)
        corpus = self.corpus
        if corpus is None or is_read(subject.model, corpus, self.query(subject).layer):
            return shown
        word = bare(subject.trace.tokens[subject.token]).lower()
        lines = _with_word(subject, corpus, word)
        listed = f"Sentences with “{word}” itself" if lines else "Some of the sentences"
        begun = f"{listed}; the nearest in meaning follow once all are read."
        return shown | senses_to_click(corpus) | {"hits": lines or _plainest(corpus), "about": begun}

    def draw(self, subject: Subject, found: Found) -> Content:
        by_head = self.compare == HEAD
        fields = {**COMMON, **(LOOKED_AT if by_head else {})}
        groups = [(heading, _bars(found, what)) for what, heading in fields.items()]
        return {
            **senses_to_click(self.corpus),
            "hits": _lines(found, by_head),
            "common": bar_groups([group for group in groups if group[1]]),
            "about": self._about(subject, found),
            "check": _check(self.query(subject), found),
        }

    def finding(self, subject: Subject) -> Finding | None:
        if not (found := self.looked_up(subject)) or not found.hits:
            return None
        what, value, count, usual = _telling(found)
        value = spell_out(value) if what in ("tag", "relation") else value
        near = f"the {len(found.hits)} tokens nearest to “{subject.trace.tokens[subject.token]}”"
        told = f"{count} of {near} in {self._space(subject)} {SHARED[what].format(value)}"
        why = Why("hidden", "Layer by layer", {"layer": subject.selection.layer, "token": subject.token})
        told += f"; of all words in the corpus {whole_percent(usual)}."
        if not stands_out(count / len(found.hits), usual):
            told = f"No property stands out among {near} in {self._space(subject)}."
        if self.compare == STATE:
            return Finding(told, why)
        target, times = next(iter(found.counts("target").items()))
        return Finding(f"{told} From {times} of them the head looks most at “{target}”.")

    def on_senses(self, subject: Subject, index: object) -> NewInput:
        """Make the first sentence with the word the input, and select the word. Raises InputError."""
        corpus = self.chosen
        place, at = corpus.places(clicked_sense(corpus, index))[0]
        sentence = corpus.sentences[place]
        offsets = subject.model.encode(sentence.text).offsets
        starts = [token for token, span in enumerate(offsets) if span[1] > span[0] == sentence.starts[at]]
        return read(sentence.text, token=next(iter(starts), None))

    def on_hits(self, subject: Subject, index: object) -> NewInput:
        """Make the sentence of a hit the input, and select its token. Raises InputError."""
        if (found := self.looked_up(subject)) is None:
            raise InputError("These are the hits of another search; wait for the new ones.")
        hit = found.hits[limits.check_integer(index, "the hit", 0, len(found.hits) - 1)]
        return read(hit.sentence.text, token=hit.position)

    def _space(self, subject: Subject) -> str:
        chosen = subject.selection
        if self.compare == STATE:
            return f"hidden state {chosen.layer}"
        return f"what {head_name((chosen.attention_layer, chosen.head_index))} hands on"

    def _about(self, subject: Subject, found: Found) -> str:
        near = f"“{subject.trace.tokens[subject.token]}” (token {subject.token})"
        lead = f"The tokens nearest to {near} by cosine in {self._space(subject)}, of {found.searched:,}"
        return f"{lead} in {found.corpus.counted}. {found.corpus.about}".rstrip()


SHARED = {
    "tag": "are tagged {}",
    "relation": "stand in the relation “{}” to their head",
    "token": "are “{}”",
    "previous": "come after “{}”",
    "next": "come before “{}”",
}


def _telling(found: Found) -> tuple[str, str, int, float]:
    """The most overrepresented property of the hits: the field, the value, the number of hits, the share of all words."""
    enough = max(2, FEWEST * len(found.hits))
    shared = [
        (what, value, count)
        for what in COMMON
        for value, count in found.counts(what).items()
        if count >= enough and value not in NO_WORDS
    ]
    shared = shared or [(what, *first) for what in COMMON for first in list(found.counts(what).items())[:1]][:1]
    usual = [found.corpus.share(what, value) for what, value, _ in shared]
    best = max(range(len(shared)), key=lambda number: shared[number][2] / max(usual[number], 1 / found.corpus.words))
    return (*shared[best], usual[best])


def _with_word(subject: Subject, corpus: Corpus, word: str) -> dict[str, Any] | None:
    """The first lines with the word itself, which need no model."""
    try:
        places = corpus.places(word, subject.model.searched)[:WITH_WORD]
    except InputError:
        return None
    rows = [Row(_around(corpus.sentences[row], at)) for row, at in places]
    return strip_table(in_context("word"), rows, "Sentences with the word")


def _plainest(corpus: Corpus) -> dict[str, Any]:
    """The sentences that are easiest to read."""
    rows = [Row([shorten(sentence.text, SHOWN)]) for sentence in sorted(corpus.sentences, key=flaws)[:WITH_WORD]]
    return strip_table([Column("sentence", "name")], rows, "Some of the sentences")


def _around(sentence: CorpusSentence, at: int) -> list[str]:
    start, named = sentence.starts[at], sentence.words[at]
    return [sentence.text[:start], named, sentence.text[start + len(named) :]]


def _bars(found: Found, what: str) -> list[tuple[str, float, str]]:
    """The most frequent values, each with its share of the hits."""
    counted = list(found.counts(what).items())[:LISTED]
    tags = "tag", "relation", "target_tag"
    named = [
        (f"{int(value):+d}" if what == "offset" else spell_out(value) if what in tags else value, count)
        for value, count in counted
    ]
    return [(value, count / len(found.hits), f"{count} of {len(found.hits)}") for value, count in named]


def _lines(found: Found, by_head: bool) -> dict[str, Any] | None:
    """A row per hit, with the word in the middle."""
    if not found.hits:
        return None
    columns = in_context("word")
    if found.corpus.tags or found.corpus.relations:
        columns += [Column("which is", "text", name="tag"), Column("and", "text", name="relation")]
    columns += [Column("looks at", "text")] if by_head else []
    columns += [Column("cosine", "number", form=".3f")]
    return strip_table(columns, [Row(_cells(hit, columns), index) for index, hit in enumerate(found.hits)], "The hits", "hit")


def _cells(hit: Hit, columns: list[Column]) -> list[Any]:
    before, after = cut(hit)
    known: dict[str, str | float] = {"before": before, "word": hit.word, "after": after, "which is": plain(hit.tag)}
    known |= {"and": plain(hit.relation)}
    known |= {"looks at": hit.target, "cosine": hit.cosine}
    return [known[column.title] for column in columns]


def _check(query: Query, found: Found) -> dict[str, str] | None:
    """Check the cosine of every hit, with its sentence read again."""
    if not found.hits:
        return None
    error = float(np.abs(cosines_to(query, found.hits) - [hit.cosine for hit in found.hits]).max())
    what = f"read again, the {len(found.hits)} sentences shown give the same cosines"
    return verdict(error <= TOLERANCE, f"{what}, {max_error(error)}")
