"""A parse tree beside a head: the links counted token by token, and what is drawn and told of them."""

import re

import numpy as np
import pytest

from explorer.corpus.atlas_look import tree_of
from explorer.corpus.heads import Heads
from explorer.text.corpora import ROOT, built_in
from explorer.ui.pictures.base import ACCENT
from explorer.ui.pictures.numbers import numbers_of
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
        drawn, told = tree_of(chosen, built_in(), [])
        begun = f"In “{TEXT}”, layer {layer}, head {head} finds {max(right)} of the {len(one.words) - 1} links of the tree."
        assert told.startswith(begun)
        assert sum(numbers_of(drawn).cells[-1]) == max(right)
        assert sum(trace.line.color == ACCENT for trace in drawn.data) == 2 * max(right), "of the tree and of the head"


def test_every_arc_of_the_tree_says_what_it_joins(subject):
    drawn, told = tree_of(subject, built_in(), [])
    said = [trace.hovertemplate.removesuffix("<extra></extra>") for trace in drawn.data if trace.hovertemplate]
    assert "“stream” depends on “begins”: subject of a verb (nsubj)" in said
    assert sum("depends on" in one for one in said) == 9
    word, _, head, *_ = numbers_of(drawn).cells
    assert head[word.index("stream")] == "begins"
    assert head[word.index("begins")] is None, "the main word"
    assert re.search(r"Always the next word would find \d", told)


def test_beside_another_text_the_tree_of_a_listed_sentence_is_drawn(bundled):
    subject = Subject.of(bundled.trace("The corpus has no tree for this.")).select(layer=4, head=2)
    content = Heads().compute(subject)
    texts = ["".join(row["cells"][:3]) for row in content["hits"]["rows"]]
    (shown,) = [text for text in texts if f"In “{text}”," in content["links"]]
    alone, beside = (Subject.of(bundled.trace(shown, text_b)).select(layer=4, head=2) for text_b in ("", "And more."))
    assert tree_of(alone, built_in(), [])[1] == tree_of(beside, built_in(), [])[1] == content["links"], "read alone"
    assert tree_of(subject, built_in(), []) is None
