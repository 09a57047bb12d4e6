"""The views of Next sentence, and those that it shares with Fill-mask, without a page."""

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.export import links
from explorer.export.place import Place
from explorer.fill_mask.word import WordHeads
from explorer.next_sentence.pair import PairHeads, ThisPair
from explorer.next_sentence.pairs import COLUMNS, ManyPairs
from explorer.techniques.ablation import Run
from explorer.techniques.targets import read
from explorer.ui.subject import Subject

A, B = "The baby would not stop crying.", "Her father picked her up."


@pytest.fixture(scope="module")
def pair(bundled):
    return Subject.of(bundled.trace(A, B))


@pytest.fixture(scope="module")
def blank(bundled):
    return Subject.of(bundled.trace("She drank a cup of [MASK]."))


def test_both_ways_are_the_models_own(pair):
    shown = ThisPair().compute(pair)
    for name, expected in (("verdict", pair.model.next_sentence(A, B)), ("swapped", pair.model.next_sentence(B, A))):
        shares = [row["share"] for row in shown[name]["groups"][0]["rows"]]
        assert shares == pytest.approx([expected.is_next, expected.not_next])


def test_heads_that_are_off_are_those_that_there_are(pair, bundled):
    odd = [[0, 1], (0, 1), [5, 11], [6, 0], [0, -1], [True, 1], [1.0, 2], "ab", None, [1]]
    view = PairHeads()
    pair = pair.select(**view.on_board(pair, odd).selection)
    shown = view.compute(pair)
    assert shown["board"]["off"] == [[0, 1], [5, 11]]
    assert shown["count"] == "Heads off: 2 of 72."
    states = Run(pair.trace, [(0, 1), (5, 11)]).states[-1]
    share = float(read(bundled, view.target(pair), states[None]).probability)
    heading, rows = (shown["answers"]["groups"][1][name] for name in ("heading", "rows"))
    assert heading == "Without heads 1.2, 6.12 (layer.head)"
    assert rows[0]["share"] == pytest.approx(share)
    for nothing in (None, {}, "off", 3):
        assert view.on_board(pair, nothing).selection == {"off": ()}


def test_weights_that_are_cut_are_missed_beside_heads_that_are_off(pair, bundled):
    view, cut = PairHeads(), ((4, 0, 3, None), (5, 0, 2, 7))
    target = view.target(pair)
    for off, named in (((), "crying"), (((0, 1),), "layer 1, head 2 and ")):
        changed = pair.select(off=off, cut=cut)
        shown = view.compute(changed)
        share = float(read(bundled, target, Run(pair.trace, off, cuts=cut).states[-1:]).probability)
        before, after = shown["answers"]["groups"]
        assert after["rows"][0]["share"] == pytest.approx(share, abs=1e-6)
        assert before["rows"][0]["share"] == view.compute(pair)["answers"]["groups"][0]["rows"][0]["share"]
        assert named in after["heading"] or not off
        assert after["heading"].endswith("would → [CLS] in layer 5 (all heads), baby → [CLS] in layer 6 (head 8)")
        assert shown["count"].endswith(" Attention weights cut: 13."), "by 12 heads and by one"
        told = view.finding(changed)
        assert told.text.startswith(after["heading"])
        assert told.why.selection["layer"] == (1 if off else 5)
    mended = pair.select(**view.on_reset(changed, None).selection)
    assert mended.selection == pair.selection
    assert view.key(changed) == view.key(pair)  # the effects of single heads are those of the run as it is


def test_effects_do_not_depend_on_what_is_off(pair, blank):
    assert PairHeads().key(pair.select(off=((0, 1),))) == PairHeads().key(pair)
    assert PairHeads().key(pair) != WordHeads().key(pair)
    assert WordHeads(word="tea").key(blank) != WordHeads().key(blank)
    effects = finished(PairHeads().work(pair))
    first = PairHeads().draw(pair, effects)["board"]["notes"][0][0]
    alone = float(read(pair.model, PairHeads().target(pair), Run(pair.trace, [(0, 0)]).states[-1:]).probability)
    assert float(effects.probability[0, 0]) == pytest.approx(alone, abs=1e-6)
    assert "→" in first
    assert np.abs(PairHeads().compute(pair)["board"]["effects"]).max() == 1


def test_scored_pairs_stay_until_they_are_scored_again(pair):
    shown = ManyPairs().compute(pair)["pairs"]
    assert [len(row) for row in shown] == [len(COLUMNS)] * 6
    assert [row[3] for row in shown] == sorted((row[3] for row in shown), reverse=True)
    answer = pair.model.next_sentence(*shown[0][:2])
    assert shown[0][2:] == [round(answer.is_next, 4), round(answer.logits[0] - answer.logits[1], 2)]
    scored = ManyPairs(pairs=shown)
    assert scored.compute(pair) == {}
    (last,) = scored.on_score(pair, None)
    assert last == {"pairs": shown, "status": "6 pairs scored."}


def test_candidates_follow_the_a_above(pair, refusal):
    view = ManyPairs(candidates=f"{B}\n\nHe slept. || He woke.\nTwo.")
    wanted = [(A, B), ("He slept.", "He woke."), (A, "Two.")]
    assert view.asked(pair) == wanted
    (shown,) = view.on_candidates(pair, view.candidates)
    assert sorted(tuple(row[:2]) for row in shown["pairs"]) == sorted(wanted)
    assert view.compute(pair)["pairs"] == shown["pairs"], "a link with candidates opens scored"
    (edited,) = ManyPairs(candidates="Two.", pairs=[["C", "D", None, None]]).on_score(pair, None)
    assert [row[:2] for row in edited["pairs"]] == [["C", "D"]]
    asked = links.query_of_page(Place(pair, "next-sentence", "Many pairs", (ManyPairs(pairs=edited["pairs"]),)))
    (saved,) = links.follow(asked.replace(links.APART, "&"), pair).views
    assert saved.compute(pair)["pairs"] == edited["pairs"], "a file has the pairs of the page, though no link has them"
    many = "\n".join(map(str, range(101)))
    refusal(InputError, lambda: list(view.on_candidates(pair, many)))
