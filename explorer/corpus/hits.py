"""Hits: tokens of a corpus in their sentences, each with the reason for it, and what the hits have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.corpus.compute.neurons import activations_of
from explorer.corpus.compute.search import Found, Hit, Query, cosines_to
from explorer.corpus.source import Look
from explorer.text import limits
from explorer.text.tagged import plain, spell_out
from explorer.ui.pictures.bars import bar_groups, whole_percent
from explorer.ui.pictures.strip_table import Column, Row, in_context, strip_table
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import stands_out
from explorer.ui.view import Content, Finding, NewInput, Why, max_error, read, verdict

NO_WORDS = ("(begin)", "(end)", "(special)")  # markers in place of a word, which are shared by many tokens
FEWEST = 0.3  # of the hits, for a shared property to be mentioned
LISTED = 5  # values of a histogram
BESIDE = 80  # characters of a sentence shown on each side of a word
COSINE_TOLERANCE = 2e-3  # hidden states are kept in half precision, each number within 2^-11 of itself
ACTIVATION_TOLERANCE = 1e-4  # of the largest activation: a batch adds up in another order
COMMON = {
    "tag": "Part of speech",
    "relation": "Relation to its head",
    "token": "Token",
    "previous": "Word before",
    "next": "Word after",
}
LOOKED_AT = {"target_tag": "The head attends to a", "target": "… to the word", "offset": "… at this distance in words"}
SHARED = {
    "tag": "are tagged {}",
    "relation": "have the relation “{}” to their syntactic head",
    "token": "are “{}”",
    "previous": "come after “{}”",
    "next": "come before “{}”",
}


@dataclass(frozen=True)
class Hits(Look):
    """Tokens of a corpus; `unit` names the score that is the reason for each, `form` is its format."""

    found: Found
    limit: int  # the number of hits that are listed
    unit: str
    form: str = field(default=".3f", kw_only=True)

    def show(self, subject: Subject) -> Content:
        """The hits in their sentences, and what they have in common."""
        fields = {**COMMON, **LOOKED_AT}  # the latter are known of heads only
        groups = [(heading, self._bars(what)) for what, heading in fields.items()]
        return {"hits": hit_lines(self), "common": bar_groups([group for group in groups if group[1]])}

    def open(self, subject: Subject, index: object) -> NewInput:
        """The sentence of a hit as the input, with its token selected. Raises InputError."""
        hit = self.found.hits[limits.check_integer(index, "the hit", 0, len(self.found.hits) - 1)]
        return read(hit.sentence.text, token=hit.position)

    def tell(self, near: str) -> str:
        """The property that is most overrepresented among the hits, in a sentence; `near` names them."""
        what, value, count, usual = self.telling()
        if not stands_out(count / len(self.found.hits), usual):
            return f"No property stands out among {near}."
        value = spell_out(value) if what in ("tag", "relation") else value
        share = whole_percent(count / len(self.found.hits))
        return f"{share} of {near} {SHARED[what].format(value)}; of all words in the corpus {whole_percent(usual)}."

    def telling(self) -> tuple[str, str, int, float]:
        """The most overrepresented property: the field, the value, the number of hits, the share of all words."""
        found, corpus = self.found, self.found.corpus
        enough = max(2, FEWEST * len(found.hits))
        shared = [
            (what, value, count)
            for what in COMMON
            for value, count in found.counts(what).items()
            if count >= enough and value not in NO_WORDS
        ]
        shared = shared or [(what, *first) for what in COMMON for first in list(found.counts(what).items())[:1]][:1]
        usual = [corpus.share(what, value) for what, value, _ in shared]
        best = max(range(len(shared)), key=lambda number: shared[number][2] / max(usual[number], 1 / corpus.words))
        return (*shared[best], usual[best])

    def check_again(self, again: np.ndarray, tolerance: float) -> dict[str, str]:
        """A check of the scores against those with the sentences read again, within a share of the largest, 1 at least."""
        shown = np.array([hit.score for hit in self.found.hits])
        error = float(np.abs(again - shown).max())
        what = f"read again, the {len(shown)} sentences shown give the same {self.unit}s"
        return verdict(error <= tolerance * max(1.0, float(np.abs(shown).max())), f"{what}, {max_error(error)}")

    def _bars(self, what: str) -> list[tuple[str, float, str]]:
        """The most frequent values, each with its share of the hits."""
        every = len(self.found.hits)
        ways = {"offset": lambda value: f"{int(value):+d}", **dict.fromkeys(("tag", "relation", "target_tag"), spell_out)}
        named = list(self.found.counts(what).items())[:LISTED]
        return [(ways.get(what, str)(value), count / every, f"{count} of {every}") for value, count in named]


def hit_lines(given: Hits, strong: int | None = None, tagged: bool = True) -> dict[str, Any] | None:
    """A row per hit, with the word in the middle, `tagged` if the corpus has tags; the row `strong` is bold."""
    found = given.found
    if not found.hits:
        return None
    columns = in_context("word")
    if tagged and (found.corpus.tags or found.corpus.relations):
        columns += [Column("which is", "text", name="tag"), Column("and", "text", name="relation")]
    columns += [Column("looks at", "text")] if any(hit.target for hit in found.hits) else []
    columns += [Column(given.unit, "number", form=given.form)]
    listed = enumerate(found.hits[: given.limit])
    rows = [Row(_cells(hit, columns, given.unit), index, index == strong) for index, hit in listed]
    return strip_table(columns, rows, "The hits", "hit")


def _cells(hit: Hit, columns: list[Column], unit: str) -> list[Any]:
    before = hit.before if len(hit.before) <= BESIDE else f"…{hit.before[-BESIDE:]}"
    after = hit.after if len(hit.after) <= BESIDE else f"{hit.after[:BESIDE]}…"
    known: dict[str, str | float] = {"before": before, "word": hit.word, "after": after, "which is": plain(hit.tag)}
    known |= {"and": plain(hit.relation), "looks at": hit.target, unit: hit.score}
    return [known[column.title] for column in columns]


@dataclass(frozen=True)
class Nearest(Hits):
    """The tokens nearest to a token of the input, by hidden state or by the output of a head."""

    query: Query

    def show(self, subject: Subject) -> Content:
        near = f"“{subject.trace.tokens[self.query.token]}” (token {self.query.token})"
        corpus = self.found.corpus
        lead = f"The tokens nearest to {near} by cosine in {self._space}, of {self.found.searched:,} in {corpus.counted}."
        return {**super().show(subject), "about": f"{lead} {corpus.about}".rstrip()}

    def finding(self, subject: Subject) -> Finding | None:
        if not self.found.hits:
            return None
        near = f"the {len(self.found.hits)} tokens nearest to “{subject.trace.tokens[self.query.token]}” in {self._space}"
        told = self.tell(near)
        if self.query.head is None:
            return Finding(told, Why("hidden", "Layer by layer", {"layer": self.query.layer, "token": self.query.token}))
        target, times = next(iter(self.found.counts("target").items()))
        return Finding(f"{told} From {times} of them the head looks most at “{target}”.")

    def check(self, subject: Subject) -> dict[str, str] | None:
        """The cosine of every hit, with its sentence read again."""
        hits = self.found.hits
        return self.check_again(cosines_to(self.query, hits), COSINE_TOLERANCE) if hits else None

    @property
    def _space(self) -> str:
        layer, head = self.query.layer, self.query.head
        return f"hidden state {layer}" if head is None else f"the output of {head_name((layer, head))}"


@dataclass(frozen=True)
class Active(Hits):
    """The tokens on which a neuron (layer and neuron zero-based) is most active."""

    layer: int
    neuron: int

    def show(self, subject: Subject) -> Content:
        corpus = self.found.corpus
        lead = f"The tokens on which {self.called} is most active, after the activation function,"
        about = f"{lead} of {self.found.searched:,} in {corpus.counted}. {corpus.about}".rstrip()
        return {**super().show(subject), "about": about}

    def finding(self, subject: Subject) -> Finding | None:
        if not self.found.hits:
            return None
        why = Why("corpus", "Heads and neurons", {"layer": self.layer + 1}, {"unit": "Neuron", "neuron": self.neuron + 1})
        return Finding(self.tell(f"the {len(self.found.hits)} tokens on which {self.called} is most active"), why)

    def check(self, subject: Subject) -> dict[str, str] | None:
        """The activation of every hit, with its sentence read again."""
        hits = self.found.hits
        return (
            self.check_again(activations_of(subject.model, hits, self.layer, self.neuron), ACTIVATION_TOLERANCE) if hits else None
        )

    @property
    def called(self) -> str:
        return f"neuron {self.neuron + 1} of layer {self.layer + 1}"
