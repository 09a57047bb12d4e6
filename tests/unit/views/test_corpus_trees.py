"""A parse tree beside a head: the links counted token by token, and what is drawn and told of them."""

import re

import numpy as np
import pytest

from explorer.corpus.trees import OTHER, Trees
from explorer.text.corpora import ROOT, built_in
from explorer.ui.pictures.base import ACCENT
from explorer.ui.pictures.numbers import kept
from explorer.ui.subject import Subject

TEXT = "The stream begins at a spring in the hills."


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=4, head=2)


def links_by_hand(trace, layer, head, words):
    """For each word the one that it looks at most, and the one that looks at it most, by loops over the tokens."""
    weights, groups = trace.attention(layer)[head], trace.encoding.text_words
    assert len(groups) == words
    table = np.array([[sum(weights[i, j] for i in one for j in other) / len(one) for other in groups] for one in groups])
    np.fill_diagonal(table, -1)
    return table.argmax(1).tolist(), table.argmax(0).tolist()


@pytest.mark.parametrize("layer", range(1, 7))
def test_the_links_of_a_head_are_counted_against_the_tree(subject, layer):
    one = next(one for one in built_in().sentences if one.text == TEXT)
    for head in (1, 7, 12):
        chosen = subject.select(layer=layer, head=head)
        ways = links_by_hand(subject.trace, layer - 1, head - 1, len(one.words))
        right = [sum(found[word] == to for word, to in enumerate(one.heads) if to != ROOT) for found in ways]
        told = Trees().finding(chosen).text
        assert told.startswith(f"Layer {layer}, head {head} finds {max(right)} of the {len(one.words) - 1} links of the tree;")
        drawn = Trees().compute(chosen)["tree"]
        assert sum(kept(drawn).cells[-1]) == max(right)
        assert sum(trace.line.color == ACCENT for trace in drawn.data) == 2 * max(right), "of the tree and of the head"


def test_every_arc_of_the_tree_says_what_it_joins(subject):
    drawn = Trees().compute(subject)["tree"]
    said = [trace.hovertemplate.removesuffix("<extra></extra>") for trace in drawn.data if trace.hovertemplate]
    assert "“stream” depends on “begins”: subject of a verb (nsubj)" in said
    assert sum("depends on" in one for one in said) == 9
    word, _, head, *_ = kept(drawn).cells
    assert head[word.index("stream")] == "begins"
    assert head[word.index("begins")] is None, "the main word"
    assert re.search(r"always the next word would find \d", Trees().finding(subject).text)


def test_beside_another_text_the_first_tree_is_shown_and_a_click_makes_one_the_input(bundled):
    subject = Subject.of(bundled.trace("No tree is known of this.")).select(layer=4, head=2)
    shown = Trees().compute(subject)
    first = shown["sentences"]["rows"][0]["cells"][0]
    own = Subject.of(bundled.trace(first)).select(layer=4, head=2)
    assert (shown["tree"], shown["about"]) == (Trees().compute(own)["tree"], OTHER)
    assert Trees().compute(own)["about"] == ""
    told = Trees().finding(own).text
    assert Trees().finding(subject).text == f"In “{first}”, l{told[1:]}"
    put = Trees().on_sentences(subject, 3)
    assert put.texts == (shown["sentences"]["rows"][3]["cells"][0], "")
    alone, beside = (Subject.of(bundled.trace(put.texts[0], text_b)).select(layer=4, head=2) for text_b in ("", "And more."))
    assert Trees().compute(alone)["tree"] is not None
    assert Trees().finding(beside).text == Trees().finding(alone).text, "a sentence is read by itself"
