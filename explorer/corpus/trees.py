"""The parse tree of a sentence of the built-in corpus, beside the links of an attention head."""

from __future__ import annotations

import functools

from explorer.corpus import atlas_words
from explorer.corpus.compute.atlas import known_atlas
from explorer.corpus.compute.plain import flaws
from explorer.corpus.compute.tree import best_offset, links_of
from explorer.corpus.pictures.tree import Compared, drawn_tree
from explorer.text import limits
from explorer.text.corpora import ROOT, CorpusSentence, built_in
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.subject import Subject, head_name
from explorer.ui.view import Content, Finding, NewInput, View, Why, caption, part, read, sentence

LISTED = 40
FEWEST, MOST = 5, 16  # words of a tree that fits on a page
OTHER = "The tree of the text above is not known; this is the first sentence of the list. Click another, and it becomes the text."


class Trees(View):
    """The tree of the page's text, or of a sentence of the built-in corpus, and the links of the selected head."""

    name, question = "corpus/trees", "Does a head know the parse tree?"
    layout = (row(col("tree", "about", "help", width=6), col("sentences", width=4)),)
    tree = part("chart", label="Parse tree and head", height=480)
    about = sentence(classes="caption")
    sentences = part("strips", height=440)
    help = caption(
        "Arcs at the left join each word to the one that it depends on, arcs at the right are the links of the head. Coloured "
        "arcs are in both; point at an arc's dot to read it. The tree comes with the corpus, and the model never sees it. "
        "A dependency tree, in the terms of Universal Dependencies (version 2). The links of the head are those of the atlas: of "
        "each word the largest weight to another word, over all its pieces, or the word that gives it the largest, whichever "
        "is right for more words here (Clark et al. 2019, section 4). One sentence proves little; the atlas counts all."
    )

    def first(self, subject: Subject) -> Subject:
        """Select the head that follows a relation best in the atlas, unless one was picked."""
        if subject.chosen.picked or (atlas := known_atlas(subject.model, built_in())) is None:
            return subject
        best = atlas_words.best_of(atlas)
        return subject if best is None else subject.select(layer=best.layer + 1, head=best.head + 1, picked=False)

    def compute(self, subject: Subject) -> Content:
        """The tree with the head's links, and sentences to choose from."""
        rows = [Row((one.text, len(one.words)), number) for number, one in enumerate(_listed())]
        columns = [Column("sentence with a tree", "name"), Column("words", "number", form="d")]
        shown: Content = {"sentences": strip_table(columns, rows, "Sentences with a tree", "sentence")}
        one = _known(subject)
        return {**shown, "tree": drawn_tree(one or _listed()[0], _compared(subject)), "about": "" if one else OTHER}

    def finding(self, subject: Subject) -> Finding | None:
        found = _compared(subject)
        if _known(subject) is None:
            return Finding(f"In “{_listed()[0].text}”, {found.told[0].lower()}{found.told[1:]}")
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        why = Why("attention", "One head", {"layer": layer + 1, "head": head + 1})
        return Finding(found.told, why)

    def on_sentences(self, subject: Subject, index: object) -> NewInput:
        return read(_listed()[limits.check_integer(index, "the sentence", 0, len(_listed()) - 1)].text, "")


def _trees() -> dict[str, CorpusSentence]:
    """The sentences with a tree that fits on a page, by their text."""
    return _trees_of(built_in().key)


def _listed() -> list[CorpusSentence]:
    """Those that are easiest to read."""
    return _listed_of(built_in().key)


@functools.lru_cache(maxsize=1)
def _listed_of(key: str) -> list[CorpusSentence]:
    """Those of the built-in corpus, which has this key."""
    return sorted(_trees_of(key).values(), key=flaws)[:LISTED]


@functools.lru_cache(maxsize=1)
def _trees_of(key: str) -> dict[str, CorpusSentence]:
    """Those of the built-in corpus, which has this key."""
    known = (sentence for sentence in built_in().sentences if sentence.heads and FEWEST <= len(sentence.words) <= MOST)
    return {sentence.text: sentence for sentence in known if sentence.heads.count(ROOT) == 1}


def _known(subject: Subject) -> CorpusSentence | None:
    """The sentence with a tree that is text A; None if it has none."""
    return _trees().get(subject.text_a.strip())


def _compared(subject: Subject) -> Compared:
    """The links of the selected head in the sentence, read by itself, and how many are in the tree."""
    own = _known(subject)
    one = own or _listed()[0]
    trace = subject.trace if own and not subject.text_b.strip() else subject.model.trace(one.text)
    layer, head = subject.selection.attention_layer, subject.selection.head_index
    links = links_of(trace.attention(layer)[head], trace.encoding.offsets, one)
    forward, right = links.right(one)
    distance, usual = best_offset(one)
    name, number = head_name((layer, head)), len(one.words) - 1
    told = (
        f"{name[0].upper()}{name[1:]} finds {len(right)} of the {number} links of the tree; always "
        f"{atlas_words.steps(distance)} would find {usual}."
    )
    return Compared(name, links.seen if forward else links.by, right, forward, told)
