"""One head of an atlas: its average attention, its strongest sentences, a parse tree, and its relations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from explorer.analysis.head_metrics import TokenFacts, head_metrics
from explorer.corpus import atlas_pictures, atlas_words
from explorer.corpus.compute.atlas_file import HeadAtlas
from explorer.corpus.compute.attention_sums import OFFSETS
from explorer.corpus.compute.search import Found, Hit
from explorer.corpus.compute.tree import best_offset, links_of, word_weights
from explorer.corpus.hits import Hits, hit_lines
from explorer.corpus.pictures.head_atlas import offset_bars, tag_heatmap
from explorer.corpus.pictures.tree import draw_tree
from explorer.corpus.source import Look
from explorer.text.corpora import Corpus
from explorer.text.tagged import ROOT, Sentence
from explorer.ui.pictures.base import shorten
from explorer.ui.subject import Subject, head_name
from explorer.ui.view import Content, Finding, NewInput, Why, matches

METRIC_OF = {"previous token": "previous", "next token": "next", "itself": "self", "same word": "same_token"}
LETTERS = 70  # of a sentence without highlighted words
FEWEST, MOST = 3, 16  # words of a parse tree that fits on a page
NO_SYNTAX = "This corpus has no syntax. Choose a treebank in CoNLL-U for relations and trees."


@dataclass(frozen=True)
class AtlasLook(Look):
    """The atlas of all heads; the selected head is shown in detail."""

    corpus: Corpus = field(repr=False)
    atlas: HeadAtlas = field(repr=False)

    def show(self, subject: Subject) -> Content:
        atlas, (layer, head) = self.atlas, _select(subject)
        listed = atlas.examples[layer, head][atlas.strengths[layer, head] > 0]
        tree = tree_of(subject, self.corpus, listed[:, 0].tolist())
        shown = {
            "grid": atlas_pictures.grid(atlas, layer, head),
            "map": atlas_pictures.heads_map(atlas, layer, head),
            "habit": f"{head_name((layer, head)).capitalize()} across the corpus: {atlas_words.habit(atlas, layer, head)}",
            "hits": hit_lines(self._hits(subject), tagged=False),
            "offsets": offset_bars(OFFSETS, atlas.offsets[layer, head], (atlas.cls[layer, head], atlas.sep[layer, head])),
            "about": f"{atlas_words.about(self.corpus, atlas)} {atlas_words.evidence(atlas) or NO_SYNTAX}",
        }
        if len(atlas.relations):
            shown["relations"] = atlas_pictures.relations(atlas, layer, head)
        if len(atlas.tags):
            shown["tags"] = tag_heatmap(atlas.by_tag[layer, head], atlas.tags.tolist())
        return shown | ({} if tree is None else {"tree": tree[0], "links": tree[1]})

    def finding(self, subject: Subject) -> Finding:
        """How many heads follow the syntax and the clearest of them, or what the head does that a person picked."""
        atlas, (layer, head) = self.atlas, _select(subject)
        why = Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
        if subject.chosen.picked or (best := atlas_words.best_of(atlas)) is None:
            over = f"Over {atlas.sentences:,} sentence{'s' * (atlas.sentences != 1)}"
            return Finding(f"{over}, {head_name((layer, head))} {atlas_words.describe(atlas, layer, head)}.", why)
        return Finding(atlas_words.overall(atlas, best), why)

    def check(self, subject: Subject) -> dict[str, str] | None:
        """Whether the sentences where the head is strongest have the same weights when each is run alone."""
        strengths = self.atlas.strengths[_select(subject)]
        places = np.flatnonzero(strengths > 0).tolist()
        if not places:
            return None
        errors = [abs(self._alone(subject, place) - float(strengths[place])) for place in places]
        return matches(max(errors), f"the {len(places)} sentences shown, each read alone, give the same weights", 0.02)

    def open(self, subject: Subject, index: object) -> NewInput:
        """The sentence as the input, with this head and the sentence's word selected. Raises InputError."""
        opened, (layer, head) = self._hits(subject).open(subject, index), _select(subject)
        return replace(opened, selection={**opened.selection, "layer": layer + 1, "head": head + 1, "picked": True})

    def _hits(self, subject: Subject) -> Hits:
        """The words from which the head attends most to their `target`, or sentences if its habit is not a single link."""
        at, hits = _select(subject), []
        strengths, back = self.atlas.strengths[at].tolist(), self.atlas.looks_back(*at)
        for (row, word, other), strength in zip(self.atlas.examples[at].tolist(), strengths, strict=True):
            one = self.corpus.sentences[row]
            if strength > 0 and word < 0:
                text = shorten(one.text, LETTERS)
                hits.append(Hit(one, None, "", text, "", "", "", "", "", "", strength))
            elif strength > 0:
                word, other = (other, word) if back else (word, other)
                offsets = subject.model.encode(one.text).offsets
                position = next((place for place, span in enumerate(offsets) if span[1] > one.starts[word]), None)
                hits.append(Hit.of(one, word, position, "", strength))
                hits[-1].target = one.words[other]
        return Hits(Found(self.corpus, tuple(hits), self.atlas.sentences), len(hits), "weight")

    def _alone(self, subject: Subject, place: int) -> float:
        """The weight in the example at `place` when its sentence is run alone."""
        layer, head = _select(subject)
        row, word, other = self.atlas.examples[layer, head, place].tolist()
        one = self.corpus.sentences[row]
        trace = subject.model.trace(one.text)
        weights = trace.attention(layer)[head]
        if word < 0:
            named = METRIC_OF[str(self.atlas.habits[layer, head])]
            return float(head_metrics(weights[None], TokenFacts.of(trace.encoding))[named][0])
        query, key = (other, word) if self.atlas.looks_back(layer, head) else (word, other)
        return float(word_weights(weights, trace.encoding.offsets, one)[query, key])


def is_tree(one: Sentence) -> bool:
    """Whether a sentence has one tree, which fits on the page."""
    return FEWEST <= len(one.words) <= MOST and one.heads.count(ROOT) == 1


def tree_of(subject: Subject, corpus: Corpus, others: list[int]) -> tuple[Any, str] | None:
    """The tree of text A, or of the first of `others` (sentences of the corpus) with one, and a sentence about it; else None."""
    typed = subject.text_a.strip()
    own = next((sentence for sentence in corpus.sentences if sentence.text == typed and is_tree(sentence)), None)
    one = own or next((sentence for sentence in map(corpus.sentences.__getitem__, others) if is_tree(sentence)), None)
    if one is None:
        return None
    trace = subject.trace if own and not subject.text_b.strip() else subject.model.trace(one.text)
    layer, head = _select(subject)
    found = links_of(word_weights(trace.attention(layer)[head], trace.encoding.offsets, one), one)
    distance, usual = best_offset(one)
    name = head_name((layer, head))
    told = f"In “{one.text}”, {name} finds {len(found.right)} of the {len(one.words) - 1} links of the tree."
    told += f" Always {atlas_words.steps(distance)} would find {usual}."
    return draw_tree(one, found, name), told


def _select(subject: Subject) -> tuple[int, int]:
    """The zero-based layer and head."""
    return subject.selection.attention_layer, subject.selection.head_index
