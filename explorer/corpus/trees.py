"""The parse tree of a sentence of the corpus, beside the links of an attention head."""

from __future__ import annotations

import functools
from typing import Any

from explorer.corpus.atlas_words import steps
from explorer.corpus.compute.tree import best_offset, links_of, word_weights
from explorer.corpus.pictures.tree import drawn_tree
from explorer.text.corpora import ROOT, Corpus, CorpusSentence
from explorer.ui.subject import Subject, head_name

FEWEST, MOST = 3, 16  # words of a tree that fits on a page


def is_tree(one: CorpusSentence) -> bool:
    """Whether a sentence has one tree, which fits on the page."""
    return FEWEST <= len(one.words) <= MOST and one.heads.count(ROOT) == 1


@functools.lru_cache(maxsize=4)
def _trees_of(corpus: Corpus) -> dict[str, CorpusSentence]:
    """The sentences with a tree, by their text."""
    return {one.text: one for one in corpus.sentences if is_tree(one)}


def tree_of(subject: Subject, corpus: Corpus, others: list[int]) -> tuple[Any, str] | None:
    """The tree of text A, or of the first of `others` (sentences of the corpus) with one, and a sentence about it; else None."""
    own = _trees_of(corpus).get(subject.text_a.strip())
    one = own or next((one for one in map(corpus.sentences.__getitem__, others) if is_tree(one)), None)
    if one is None:
        return None
    trace = subject.trace if own and not subject.text_b.strip() else subject.model.trace(one.text)
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    found = links_of(word_weights(trace.attention(layer)[head], trace.encoding.offsets, one), one)
    distance, usual = best_offset(one)
    name = head_name((layer, head))
    told = f"In “{one.text}”, {name} finds {len(found.right)} of the {len(one.words) - 1} links of the tree."
    told += f" Always {steps(distance)} would find {usual}."
    return drawn_tree(one, found, name), told
