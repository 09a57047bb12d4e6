"""Single pieces, whole words, and the game played on a text."""

import numpy as np
import pytest
import torch

from explorer.fill_mask import compute
from explorer.fill_mask.compute import KEPT, MASKED, PIECES, RANDOM, UNTOUCHED, WORDS, Rules, loss_error, play
from tests.hooks import eager_bert

TEXT_A = "The old man walked slowly to the market because he wanted to buy some milk and bread for his dog."
TEXT_B = "He paid and carried the bottle home."


def test_words_are_chosen_whole():
    words, eligible = [[1, 2, 3], [4], [5, 6], [8], [9, 10]], np.ones(12, dtype=bool)
    eligible[[0, 7, 11]] = False
    for seed in range(40):
        chosen = compute.choose_words(eligible, words, 0.4, np.random.default_rng(seed))
        for word in words:
            assert chosen[word].all() or not chosen[word].any()
        assert 0.4 * eligible.sum() <= chosen.sum() < 8
    eligible[2] = False
    assert not compute.choose_words(eligible, words[:1], 0.4, np.random.default_rng(0)).any(), "a piece is not eligible"


def test_every_eligible_place_is_chosen_equally_often():
    eligible = np.ones(64, dtype=bool)
    eligible[[0, 63]] = False
    counts = sum(compute.choose_pieces(eligible, 0.15, np.random.default_rng(seed)).astype(int) for seed in range(2000))
    assert counts.sum() == 2000 * 9
    assert not counts[~eligible].any()
    observed = counts[eligible]
    assert ((observed - observed.mean()) ** 2 / observed.mean()).sum() < 100  # chi-square, 61 degrees of freedom
    assert compute.choose_pieces(np.array([False, True]), 0.15, np.random.default_rng(0)).tolist() == [False, True]


def test_each_treatment_does_what_its_name_says():
    ids, rng = np.arange(50, 250), np.random.default_rng(1)
    chosen = compute.choose_pieces(ids % 2 == 0, 0.9, rng)
    found = compute.treat_pieces(ids, chosen, Rules(masked=0.4, random=0.3), 3, np.arange(1000, 1100), rng)
    assert (found.labels == np.where(chosen, ids, compute.IGNORED)).all()
    assert ((found.treatment != UNTOUCHED) == chosen).all()
    read = {code: found.input_ids[found.treatment == code] for code in (UNTOUCHED, MASKED, RANDOM, KEPT)}
    assert (read[UNTOUCHED] == ids[~chosen]).all()
    assert (read[MASKED] == 3).all()
    assert (read[RANDOM] >= 1000).all()
    assert (read[KEPT] == ids[found.treatment == KEPT]).all()
    assert all(map(len, read.values()))


def test_ordinary_ids_leave_out_specials_and_reserved_entries(bundled):
    left = set(bundled.vocabulary) - set(bundled.pieces(bundled.ordinary_ids.tolist()))
    assert {piece for piece in left if not piece.startswith("[unused")} == set(bundled.tokenizer.all_special_tokens)


@pytest.mark.parametrize("strategy", [PIECES, WORDS])
def test_the_shares_of_the_game_fit_80_10_10(bundled, strategy):
    encoding, counts = bundled.encode(TEXT_A, TEXT_B), np.zeros(3)
    for seed in range(300):
        treatment = compute.hide(bundled, encoding, Rules(strategy, seed=seed)).treatment
        counts += np.bincount(treatment, minlength=4)[1:]
    expected = counts.sum() * np.array([0.8, 0.1, 0.1])
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # chi-square, 2 degrees of freedom, one in a thousand
    assert counts.sum() / 300 / (encoding.kept - 3) == pytest.approx(0.15, abs=0.05)


@pytest.mark.parametrize("strategy", [PIECES, WORDS])
@pytest.mark.parametrize("next_label", [0, 1])
def test_the_losses_are_those_of_transformers(bundled, strategy, next_label):
    played = play(bundled, TEXT_A, TEXT_B, Rules(strategy, rate=0.3, seed=4), next_label)
    encoded = bundled.tokenizer(TEXT_A, TEXT_B, return_tensors="pt")
    labels = encoded["input_ids"].masked_fill(torch.from_numpy(played.masked.treatment == UNTOUCHED)[None], -100)
    with torch.no_grad():
        inputs = {"input_ids": torch.from_numpy(played.masked.input_ids)[None], "token_type_ids": encoded["token_type_ids"]}
        outputs = eager_bert(bundled)(**inputs, labels=labels, next_sentence_label=torch.tensor([next_label]))
    assert played.loss == pytest.approx(float(outputs.loss), abs=1e-4)
    assert played.loss == pytest.approx(played.mlm_loss + played.next_loss)
    assert loss_error(bundled, played) < 1e-4
    best = outputs.prediction_logits[0].argmax(-1)
    assert [guess.candidates[0].id for guess in played.guesses] == best[list(played.positions)].tolist()


def test_without_b_there_is_only_the_first_loss(bundled):
    played = play(bundled, TEXT_A, "", Rules(seed=1))
    assert played.next_loss is played.is_next is None
    assert played.loss == played.mlm_loss
    assert loss_error(bundled, played) < 1e-4
