"""The views of Fill-mask, without a page."""

import re

import numpy as np
import pytest
import torch

from explorer.core.errors import InputError
from explorer.fill_mask import tab as fill_mask
from explorer.fill_mask.game import Game
from explorer.fill_mask.guesses import Comparison, FilledTogether, Guesses
from explorer.fill_mask.lens import FollowedWords, Lens
from explorer.fill_mask.patching import Patching
from explorer.fill_mask.positions import EachWord, Likelihoods
from explorer.fill_mask.word import SECOND, WordAttribution, WordHeads
from explorer.ui.pictures.bars import percent, sign, whole_percent
from explorer.ui.pictures.numbers import numbers_of
from explorer.ui.subject import Subject

ONE, TWO = "She drank a cup of [MASK].", "The [MASK] went to the [MASK]."


@pytest.fixture(scope="module")
def blank(bundled):
    return Subject.of(bundled.trace(ONE))


@pytest.fixture(scope="module")
def blanks(bundled):
    return Subject.of(bundled.trace(TWO))


def test_of_several_blanks_the_one_in_question_is_named_with_its_probability(blank, blanks):
    for view in (Guesses(), Lens()):
        for number, place in enumerate(blanks.trace.mask_positions, start=1):
            subject = blanks.select(token=place)
            (guess,) = subject.model.guesses(subject.trace.states[-1][[place]], [place], 1)
            told = view.finding(subject).text
            assert told.startswith(f"Blank {number} of 2 (position {place}): ")
            assert f"“{guess.candidates[0].token}”" in told
            assert whole_percent(guess.candidates[0].probability) in told
        assert "Blank" not in view.finding(blank).text
    assert Lens().finding(blanks.select(token=1)).text.startswith("At “the” (token 1): "), "another word was chosen"


def test_where_two_ways_of_attribution_disagree_both_are_named(bundled):
    subject = Subject.of(bundled.trace("Paris is the capital of [MASK]."))
    _, scores, occluded = WordAttribution().result(subject)
    tokens, high, hidden = subject.trace.tokens, scores.scores.argmax(), occluded.scores.argmax()
    assert high != hidden, "this pair shows it"
    told = WordAttribution().finding(subject).text
    assert f"By gradients “{tokens[high]}” speaks most for “france” ({scores.scores[high]:+.2f})." in told
    assert told.endswith(f"Hiding each token in turn names “{tokens[hidden]}” instead ({occluded.scores[hidden]:+.2f}).")


def test_heads_are_told_by_what_they_do_to_the_word_rather_than_its_foil(blank):
    """The page opens with the second guess as the foil; links and programs that name none get probabilities."""
    assert WordHeads.settings["foil"].fresh == SECOND
    assert WordHeads().foil == ""
    logits = blank.model.masked_lm(blank.trace.states[-1][blank.blank])
    (first, second), names = logits.topk(2).values.tolist(), blank.model.pieces(logits.topk(2).indices.tolist())
    plain, against = (kind.compute(blank) for kind in (WordHeads(), WordHeads(foil=SECOND)))
    before, after = (numbers_of(shown["board"]) for shown in (plain, against))
    assert (before.columns[3:], after.columns[3:5]) == (("without_it", "with_it"), ("without_it", "with_it"))
    rows = [dict(zip(after.columns, row, strict=True)) for row in after.rows]
    assert [row[3:] for row in before.rows] == [(row["without_it"], row["with_it"]) for row in rows]
    assert {(row["word"], row["foil"]) for row in rows} == {tuple(names)}
    assert rows[0]["difference_with_it"] == pytest.approx(first - second, abs=1e-4)
    worst = max(rows, key=lambda row: abs(row["difference_without_it"] - row["difference_with_it"]))
    told, lead = WordHeads(foil=SECOND).finding(blank).text, sign(worst["difference_without_it"])
    assert told.startswith(f"Without layer {worst['layer']}, head {worst['head']}, “{names[0]}” rather than “{names[1]}” falls")
    assert f" from {sign(first - second)} to {lead} logits, and “{names[0]}” " in told
    stays = WordHeads(word="blood").result(blank).probability
    ends = f"“blood” stays between {percent(float(stays.min()))} and {percent(float(stays.max()))}."
    assert WordHeads(word="blood").finding(blank).text == f"No single head matters: whichever of the 72 is off, {ends}"
    assert "logit" not in plain["strongest"] + WordHeads().finding(blank).text
    with pytest.raises(InputError, match="The foil is the same as the word"):
        WordHeads(foil=names[0]).compute(blank)


def test_without_a_blank_views_say_what_to_do(bundled, blank):
    assert (EachWord().compute(blank), EachWord().finding(blank)) == ({}, None), "with a blank no other word is hidden"
    subject = Subject.of(bundled.trace("No blank here."))
    silent = {kind.name for kind in fill_mask.TAB.views if kind().unless(subject)}
    assert {"fill-mask/guesses", "fill-mask/heads", "fill-mask/attribution", "fill-mask/patching"} <= silent
    assert silent.isdisjoint(["fill-mask/lens", "fill-mask/positions", "fill-mask/game", EachWord.name])


def test_a_blank_at_the_end_is_hinted_at_and_the_small_model_is_honest(bundled, tiny):
    def seen(*texts, model=bundled):
        return Guesses().compute(Subject.of(model.trace(*texts)))

    assert "Add a full stop" in seen("She drank a cup of [MASK]")["hint"]
    assert "hint" in seen("A [MASK]", "He slept.")
    for texts in ((ONE,), ("[MASK] slept",), ("He slept.", "The [MASK]!")):
        assert "hint" not in seen(*texts), texts
    assert "its first guess is right for" in seen(ONE)["small"]
    assert "small" not in seen("the [MASK] was happy .", model=tiny)


def test_guesses_and_words_are_those_of_the_model(blanks):
    guesses, shown = blanks.model.fill_mask(TWO, top_k=3), Guesses(top_k=3).compute(blanks)["guesses"]
    for guess, group in zip(guesses, shown["groups"], strict=True):  # their numbers are compared in test_tables
        assert [row["label"] for row in group["rows"]] == [candidate.token for candidate in guess.candidates]
    assert [row[:2] for row in numbers_of(shown).rows] == [(guess.position, rank) for guess in guesses for rank in (1, 2, 3)]
    best = guesses[1].candidates[0]
    rows = Comparison(words=f"{best.token} / woman").compute(blanks.select(token=guesses[1].position))
    assert rows["compared"]["groups"][0]["rows"][0]["share"] == pytest.approx(best.probability, abs=1e-6)
    assert f"At position {guesses[1].position}, " in rows["ratio"]
    with pytest.raises(InputError, match="is not one piece"):
        Comparison(words="antidisestablishmentarianism").compute(blanks)


def test_only_several_blanks_are_filled_together(blank, blanks):
    assert FilledTogether().compute(blank) == {}
    grid = FilledTogether().compute(blanks)["filled"]
    assert len(grid["rows"]) == 3
    assert grid["columns"] == [f"position {place}" for place in blanks.trace.mask_positions]


def test_sentences_are_ranked_and_scored_once(blank, monkeypatch):
    view = Likelihoods(sentences="Man the home went.\n\nThe man went home.")
    table = view.compute(blank)["table"]
    assert [row[0] for row in table] == ["The man went home.", "Man the home went."]
    for sentence, pieces, by_word, original in table:
        assert pieces == len(sentence.split()) + 1
        assert by_word == original, "no word of several pieces"
    monkeypatch.setattr("explorer.fill_mask.positions.pseudo_likelihoods_in_steps", None)
    assert next(view.on_score(blank, None))["table"] is table
    with pytest.raises(InputError, match="Type 1 to 20 sentences"):
        Likelihoods(sentences=" \n").compute(blank)
    with pytest.raises(InputError, match="Shorten"):  # 510 pieces were 1,020 passes over 512 tokens, without an end in sight
        Likelihoods(sentences="\\" * 5000).compute(blank)


def test_the_lens_ends_in_the_guess_and_a_click_moves_it(blank):
    (guess,) = blank.model.fill_mask(ONE)
    table = Lens().compute(blank)["table"]
    assert table["cells"][-1][guess.position]["text"] == guess.candidates[0].token
    assert table["marked"] == guess.position
    assert Lens().on_table(blank, [0, 2]).selection == {"token": 2}
    with pytest.raises(InputError):
        Lens().on_table(blank, [0, 999])
    told = FollowedWords(follow="milk, tea").compute(blank)["summary"]
    assert told == f"Read with the output head, at position {guess.position} milk ends at rank 3 and gets there only at the end."


def test_patching_ends_in_the_clean_run(blank):
    found = Patching().result(blank)
    assert found.probabilities.shape == (blank.model.capabilities.layers + 1, blank.trace.kept)
    assert found.probabilities[-1, found.target.position] == pytest.approx(found.clean[1], abs=1e-5)
    assert not np.isclose(found.clean[1], found.corrupted[1])
    with pytest.raises(InputError, match="need the same number"):
        Patching(corrupted="too short").compute(blank)


@pytest.mark.parametrize(("text_b", "is_run_b"), [("The capital of Italy is [MASK].", True), ("It is a city of wine.", False)])
def test_b_is_patched_from_only_where_it_is_a_with_other_words(bundled, text_b, is_run_b):
    subject = Subject.of(bundled.trace("The capital of France is [MASK].", text_b))
    assert bundled.trace(subject.text_a).kept == bundled.trace(text_b).kept
    clean, corrupted = Patching().pair(subject)
    differing = [(one, other) for one, other in zip(clean.tokens, corrupted.tokens, strict=True) if one != other]
    assert differing == ([("france", "italy")] if is_run_b else [("france", "[MASK]")])


def test_patching_with_a_foil_tells_what_is_recovered_of_the_difference(bundled):
    subject = Subject.of(bundled.trace("The capital of France is [MASK]."))
    view = Patching(foil=SECOND, corrupted="The capital of Italy is [MASK].")
    found = view.result(subject)
    (other,) = bundled.fill_mask(view.corrupted, top_k=1)
    assert found.target.foil_token == other.candidates[0].token != found.target.token == "paris"
    place, changed = found.target.position, [token == "france" for token in found.tokens]
    assert found.recovered[-1, place] == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(found.recovered[0], changed, atol=1e-4)  # below, only the other word differs
    np.testing.assert_allclose(np.delete(found.recovered[-1], place), 0, atol=1e-4)
    shown = view.compute(subject)
    assert shown["check"]["text"].startswith("✓")
    both = f"{sign(found.clean[0])} logits in the original run, {sign(found.corrupted[0])} in the changed one, "
    assert f"{both}with “france” → “italy”." in shown["summary"]
    told = view.finding(subject).text
    layer = int(re.search(r"at hidden state (\d)", told)[1])
    assert found.recovered[layer, changed.index(True)] >= 0.5 > np.delete(found.recovered, place, 1)[layer + 1 :].max()
    recovered = whole_percent(float(found.recovered[layer, changed.index(True)]))
    assert f"“france” at hidden state {layer} brings {recovered} of the difference back (“paris” rather than “rome”)" in told
    same = Patching(foil=SECOND, corrupted=subject.text_a)
    assert "nothing to bring back" in same.compute(subject)["summary"]
    assert same.finding(subject).text.startswith("Nothing to bring back")
    rarer = Patching(word="rome", corrupted=view.corrupted)
    before, after = (percent(rarer.result(subject)[at][1]) for at in (-2, -1))
    more = f"“rome” has a higher probability in the changed run ({after}) than in the original one ({before})"
    assert rarer.finding(subject).text == f"{more}, so there is nothing to bring back."


def test_the_curve_of_the_loss_has_what_transformers_computes(bundled):
    text, view = "The keys to the cabinet were on the table.", Game(mask_share=1.0, other_share=0.0, rate=0.3, seed=3)
    curve = view.compute(Subject.of(bundled.trace(text)))["curve"]
    places = numbers_of(curve).cells[1]  # the positions
    ids = bundled.trace(text).encoding.ids
    masked = torch.tensor([[bundled.mask_id if place in places else one for place, one in enumerate(ids)]])
    with torch.no_grad():
        logits = bundled.module(input_ids=masked).prediction_logits[0, places]
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([ids[place] for place in places]), reduction="none")
    assert len(places) >= 2
    np.testing.assert_allclose(curve.data[1].y, expected, atol=1e-4)
    np.testing.assert_allclose(curve.data[1].x, torch.exp(-expected), atol=1e-5)
    assert curve.layout.shapes[0].y0 == pytest.approx(float(expected.mean()), abs=1e-4)
    assert curve.layout.yaxis.range[1] >= float(expected.max())
