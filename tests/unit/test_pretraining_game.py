"""Spans, whole words, and the game played on a text."""

import numpy as np
import pytest
import torch
import transformers

from explorer.bert import checkpoints
from explorer.core.errors import InputError
from explorer.fill_mask.compute.masking_game import Rules, hide, loss_error, play
from explorer.fill_mask.compute.spans import LONGEST, span_chooser, span_length_shares, spans_of, treat_spans, word_chooser
from explorer.text.masking import IGNORED, KEPT, MASKED, RANDOM, UNTOUCHED

TEXT_A = "The old man walked slowly to the market because he wanted to buy some milk and bread for his dog."
TEXT_B = "He paid and carried the bottle home."


def row(tokens=400):
    """One long row with one piece a word, its ends special."""
    eligible = np.ones((1, tokens), dtype=bool)
    eligible[:, [0, -1]] = False
    words = np.arange(tokens)[None] - 1
    words[~eligible] = -1
    return eligible, words


def test_span_lengths_are_geometric_and_clipped_at_10():
    shares = span_length_shares()
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares[1:] / shares[:-1], 0.8)
    assert len(shares) == LONGEST == 10
    assert (shares * np.arange(1, 11)).sum() == pytest.approx(3.8, abs=0.01)  # Joshi et al. 2020, section 3.1


def test_spans_have_the_right_share_and_nearly_the_right_lengths():
    eligible, words = row()
    lengths, shares = [], []
    for seed in range(60):
        chosen = span_chooser(words)(eligible, 0.15, np.random.default_rng(seed))
        shares.append(chosen.sum() / eligible.sum())
        lengths += [end - start for start, end in spans_of(chosen[0])]
        assert not (chosen & ~eligible).any()
    assert np.ptp(shares) < 0.02
    assert np.mean(shares) == pytest.approx(0.15, abs=0.005)
    assert 3 < np.mean(lengths) < 5  # neighbours join, the last of a text is cut


def test_words_are_chosen_whole():
    words = np.array([[-1, 0, 0, 0, 1, 2, 2, -1, 0, 1, 1, -1]])
    eligible = words >= 0
    for seed in range(40):
        for chooser in (word_chooser, span_chooser):
            chosen = chooser(words)(eligible, 0.4, np.random.default_rng(seed))[0]
            for run in ([1, 2, 3], [4], [5, 6], [8], [9, 10]):
                assert chosen[run].all() or not chosen[run].any()
            assert 0.4 * eligible.sum() - 1 < chosen.sum() < 8


def test_a_row_with_nothing_to_choose_stays_as_it_is():
    for chooser in (word_chooser, span_chooser):
        eligible = np.zeros((1, 3), dtype=bool)
        assert not chooser(np.full((1, 3), -1))(eligible, 0.5, np.random.default_rng(0)).any()


def test_a_span_is_treated_alike_and_the_treatments_share_80_10_10():
    counts = np.zeros(3)
    eligible, words = row()
    ids = np.arange(400)[None] + 1000
    for seed in range(150):
        rng = np.random.default_rng(seed)
        chosen = span_chooser(words)(eligible, 0.15, rng)
        result = treat_spans(ids, chosen, mask_id=3, random_ids=np.arange(10, 500), rng=rng)
        for start, end in spans_of(chosen[0]):
            assert len(set(result.treatment[0, start:end])) == 1
            counts[result.treatment[0, start] - 1] += 1
        assert (result.labels[~chosen] == IGNORED).all()
        assert (result.labels[chosen] == ids[chosen]).all()
        assert (result.input_ids[result.treatment == MASKED] == 3).all()
        assert (result.input_ids[result.treatment == RANDOM] < 500).all()
        kept = np.isin(result.treatment, [KEPT, UNTOUCHED])
        assert (result.input_ids[kept] == ids[kept]).all()
    expected = counts.sum() * np.array([0.8, 0.1, 0.1])
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # chi-square, 2 degrees of freedom, one in a thousand


@pytest.mark.parametrize("strategy", ["pieces", "words", "spans"])
def test_the_shares_of_the_game_itself_fit_80_10_10(bundled, strategy):
    encoding, counts, places = bundled.encode(TEXT_A, TEXT_B), np.zeros(3), 0
    for seed in range(300):
        treatment = hide(bundled, encoding, Rules(strategy, seed=seed)).treatment[0]
        groups = spans_of(treatment != UNTOUCHED) if strategy == "spans" else [(i, i) for i in np.flatnonzero(treatment)]
        places += int((treatment != UNTOUCHED).sum())
        for start, _ in groups:
            counts[treatment[start] - 1] += 1
    expected = counts.sum() * np.array([0.8, 0.1, 0.1])
    assert ((counts - expected) ** 2 / expected).sum() < 13.8
    assert places / 300 / (encoding.kept - 3) == pytest.approx(0.15, abs=0.05)


@pytest.mark.parametrize("strategy", ["pieces", "words", "spans"])
@pytest.mark.parametrize("next_label", [0, 1])
def test_the_losses_are_those_of_transformers(bundled, strategy, next_label):
    played = play(bundled, TEXT_A, TEXT_B, Rules(strategy, rate=0.3, seed=4), next_label)
    folder = checkpoints.find(bundled.name).folder
    module = transformers.BertForPreTraining.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    encoded = bundled.tokenizer(TEXT_A, TEXT_B, return_tensors="pt")
    labels = encoded["input_ids"].clone()
    hidden = torch.from_numpy(played.masked.treatment != UNTOUCHED)
    labels[~hidden] = -100
    ids = torch.from_numpy(played.masked.input_ids)
    with torch.no_grad():
        outputs = module(
            input_ids=ids, token_type_ids=encoded["token_type_ids"], labels=labels, next_sentence_label=torch.tensor([next_label])
        )
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


def test_the_same_seed_plays_the_same_game(bundled):
    first, second = (play(bundled, TEXT_A, TEXT_B, Rules(seed=9), 0) for _ in range(2))
    np.testing.assert_array_equal(first.masked.input_ids, second.masked.input_ids)
    other = play(bundled, TEXT_A, TEXT_B, Rules(seed=10), 0)
    assert not np.array_equal(first.masked.input_ids, other.masked.input_ids)


@pytest.mark.parametrize(
    "rules", [Rules("letters"), Rules(rate=0), Rules(rate=1.5), Rules(masked=0.8, random=0.4), Rules(seed=-1), Rules(seed=0.5)]
)
def test_impossible_rules_are_refused(bundled, rules, refusal):
    refusal(InputError, lambda: play(bundled, TEXT_A, "", rules))


def test_masks_only_leave_nothing_to_hide(bundled, refusal):
    refusal(InputError, lambda: play(bundled, "[MASK] [MASK]", "", Rules()))
