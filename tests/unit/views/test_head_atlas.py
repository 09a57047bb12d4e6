"""What the atlas of heads shows and says, and a parse tree beside a head, compared with their numbers."""

import re

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.corpus import atlas_words
from explorer.corpus.atlas_look import tree_of
from explorer.corpus.compute.atlas_evidence import LEVEL
from explorer.corpus.compute.attention_sums import OFFSETS, REACH
from explorer.corpus.heads import Heads
from explorer.corpus.source import FILE
from explorer.text.corpora import Corpus, built_in
from explorer.text.tagged import ROOT, Sentence
from explorer.ui.pictures.base import ACCENT
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject
from tests.corpora import head_atlas


@pytest.fixture
def subject(bundled):
    return Subject.of(bundled.trace("She sat on the bank of the river."))


@pytest.fixture(scope="module")
def atlas(bundled):
    return head_atlas(bundled, built_in())


def test_the_finding_counts_the_heads_that_follow_the_syntax(subject, atlas):
    view = Heads()
    opened = view.first(subject)
    told = view.finding(opened)
    assert told.text.startswith(f"{int(atlas.significant.any(axis=-1).sum())} of 72 heads ")
    assert f"(false discovery rate {LEVEL:.0%})" in told.text
    layer, head = opened.selection.layer, opened.selection.head
    assert told.text.endswith(f"layer {layer}, head {head} most clearly.")
    habit = atlas_words.describe(atlas, layer - 1, head - 1)
    at = atlas.relations.tolist().index(atlas.habits[layer - 1, head - 1])
    share, usual = (int(share) / 100 for share in re.findall(r"(\d+)%", habit))
    assert share == pytest.approx(atlas.best[layer - 1, head - 1, at], abs=0.006)
    assert usual == pytest.approx(atlas.baselines[at], abs=0.006)
    assert told.why.selection == {"layer": layer, "head": head}
    weighed = np.where(atlas.significant, atlas.leads, 0) * np.sqrt(atlas.counts)
    assert weighed[layer - 1, head - 1, at] == weighed.max()


def test_everything_shown_of_a_head_is_of_that_head(subject, atlas):
    content = Heads().compute(subject.select(layer=3, head=1))
    assert content["grid"]["selected"] == [2, 0]
    assert numbers_of(content["offsets"]).rows[REACH - 1][:2] == (-1, "−1")
    assert numbers_of(content["offsets"]).rows[REACH - 1][2] == pytest.approx(atlas.offsets[2, 0, REACH - 1])
    relations = {row[2]: row for row in numbers_of(content["relations"]).rows}
    assert set(relations) == set(atlas.relations.tolist())
    at = atlas.relations.tolist().index("obj")
    assert relations["obj"][3:6] == pytest.approx((atlas.best[2, 0, at], atlas.baselines[at], -2))
    strong = [row["strong"] for row in content["relations"]["rows"]]
    assert strong == sorted(strong, reverse=True)
    assert sum(strong) == atlas.significant[2, 0].sum()
    assert all(row[9] < row[3] < row[10] for row in relations.values() if 0 < row[3] < 1)
    numbers = [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", content["about"].partition(" The best of ")[2])]
    passing, holding = atlas.halves.tolist()
    low, high = atlas.permuted.min(), atlas.permuted.max()
    after = atlas.significant.any(-1).sum()
    assert numbers[:3] == [len(atlas.relations), atlas.beating.sum(), 72]
    assert numbers[3:] == [round(atlas.permuted.mean()), low, high, len(atlas.permuted), after, atlas.q.size, passing, holding]
    assert len(numbers_of(content["tags"])) == atlas.by_tag[2, 0].size
    assert len(numbers_of(content["grid"])) == 72
    assert numbers_of(content["grid"]).columns[-1] == f"behind_{OFFSETS[-1]}"
    assert len(numbers_of(content["map"])) == 72


@pytest.mark.parametrize("place", [(1, 3), (1, 1), (3, 1), (4, 2), (2, 9), (6, 8)])
def test_the_strongest_sentence_read_alone_has_the_same_weight(subject, place):
    content = Heads().compute(subject.select(layer=place[0], head=place[1]))
    assert content["check"]["text"].startswith("✓")
    assert float(re.search(r"max error (\S+)\)", content["check"]["text"])[1]) < 1e-5


def test_a_click_makes_the_sentence_the_input_with_this_head_and_its_word(subject, bundled, atlas, refusal):
    view, chosen = Heads(), subject.select(layer=4, head=2)
    change = view.on_hits(chosen, 1)
    at, word, _ = atlas.examples[3, 1, 1].tolist()
    one = built_in().sentences[at]
    assert change.texts == (one.text, "")
    assert {"layer": 4, "head": 2, "picked": True}.items() <= change.selection.items()
    assert bundled.trace(one.text).tokens[change.selection["token"]] == one.words[word].lower()
    assert view.on_hits(subject.select(layer=1, head=3), 0).selection["token"] is None
    for index in (99, -1, None, "x", [1]):
        refusal(InputError, lambda index=index: view.on_hits(chosen, index))


def test_the_names_of_a_treebank_never_become_markup(tiny, monkeypatch, own_runs):
    monkeypatch.setattr("explorer.corpus.compute.atlas.FEWEST", 1)
    evil = "<b>x</b>"
    one = Sentence(("the", "man"), (evil, evil), "the man", (0, 4), (1, -1), (evil, "root"))
    subject = Subject.of(tiny.trace("the man"))
    content = Heads(source=FILE, file=Corpus("own", (one,))).compute(subject)
    assert content["relations"]["rows"][0]["cells"][0] == evil
    assert evil not in content["tags"].to_json()
    assert evil not in content["relations"]["label"]


TEXT = "The stream begins at a spring in the hills."


@pytest.fixture
def stream(bundled):
    return Subject.of(bundled.trace(TEXT)).select(layer=4, head=2)


def links_by_hand(trace, layer, head, words):
    """For each word the one that it looks at most, and the one that looks at it most, by loops over the tokens."""
    weights, groups = trace.attention(layer)[head], trace.encoding.text_words
    assert len(groups) == words
    table = np.array([[sum(weights[i, j] for i in one for j in other) / len(one) for other in groups] for one in groups])
    np.fill_diagonal(table, -1)
    return table.argmax(1).tolist(), table.argmax(0).tolist()


@pytest.mark.parametrize("layer", range(1, 7))
def test_the_links_of_a_head_are_counted_against_the_tree(stream, layer):
    one = next(one for one in built_in().sentences if one.text == TEXT)
    for head in (1, 7, 12):
        chosen = stream.select(layer=layer, head=head)
        ways = links_by_hand(stream.trace, layer - 1, head - 1, len(one.words))
        right = [sum(found[word] == to for word, to in enumerate(one.heads) if to != ROOT) for found in ways]
        drawn, told = tree_of(chosen, built_in(), [])
        begun = f"In “{TEXT}”, layer {layer}, head {head} finds {max(right)} of the {len(one.words) - 1} links of the tree."
        assert told.startswith(begun)
        assert sum(numbers_of(drawn).cells[-1]) == max(right)
        assert sum(trace.line.color == ACCENT for trace in drawn.data) == 2 * max(right), "of the tree and of the head"


def test_every_arc_of_the_tree_says_what_it_joins(stream):
    drawn, told = tree_of(stream, built_in(), [])
    said = [trace.hovertemplate.removesuffix("<extra></extra>") for trace in drawn.data if trace.hovertemplate]
    assert "“stream” depends on “begins”: subject of a verb (nsubj)" in said
    assert sum("depends on" in one for one in said) == 9
    word, _, head, *_ = numbers_of(drawn).cells
    assert head[word.index("stream")] == "begins"
    assert head[word.index("begins")] is None, "the main word"
    assert re.search(r"Always the next word would find \d", told)


def test_beside_another_text_the_tree_of_a_listed_sentence_is_drawn(bundled):
    stream = Subject.of(bundled.trace("The corpus has no tree for this.")).select(layer=4, head=2)
    content = Heads().compute(stream)
    texts = ["".join(row["cells"][:3]) for row in content["hits"]["rows"]]
    (shown,) = [text for text in texts if f"In “{text}”," in content["links"]]
    alone, beside = (Subject.of(bundled.trace(shown, text_b)).select(layer=4, head=2) for text_b in ("", "And more."))
    assert tree_of(alone, built_in(), [])[1] == tree_of(beside, built_in(), [])[1] == content["links"], "read alone"
    assert tree_of(stream, built_in(), []) is None
