"""Intervals, tests and their correction, against SciPy and what is known of them."""

import itertools

import numpy as np
import pytest
import scipy

from explorer.analysis import resampling
from explorer.analysis.resampling import benjamini_hochberg, bootstrap, by_chance, halves, sign_flip


def test_the_interval_is_that_of_scipys_bootstrap():
    values = np.random.default_rng(3).exponential(size=(60, 2)) - 0.5
    low, high = bootstrap(values)
    wanted = scipy.stats.bootstrap((values,), np.mean, axis=0, n_resamples=20_000, method="percentile", rng=1)
    np.testing.assert_allclose(low, wanted.confidence_interval.low, atol=0.04)
    np.testing.assert_allclose(high, wanted.confidence_interval.high, atol=0.04)


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    low, high = bootstrap(rng.normal(size=(40, 500)))  # 500 experiments of 40 items, whose true mean is 0
    assert 0.9 <= ((low <= 0) & (high >= 0)).mean() <= 0.97


def test_words_of_a_sentence_are_drawn_together():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 9, 80)
    right = np.array([size * (rng.random() < 0.7) for size in sizes])  # all words of a sentence, or none
    low, high = bootstrap(right, sizes=sizes)
    words = np.concatenate([np.full(size, one > 0) for one, size in zip(right, sizes, strict=True)])
    assert low < words.mean() < high
    alone = bootstrap(words.astype(float))
    assert high - low > 1.5 * (alone[1] - alone[0]), "as if every word were drawn by itself"
    np.testing.assert_allclose(bootstrap(right, sizes=np.ones(80)), bootstrap(right))


def test_how_often_something_happens_is_judged_by_its_chances():
    values = np.zeros((60, 61))
    for hits in range(61):
        values[:hits, hits] = 1
    wanted = scipy.stats.binom(60, 1 / 8)
    far = np.abs(np.arange(61) - 7.5)
    exact = [wanted.pmf(np.flatnonzero(far >= one)).sum() for one in far]
    np.testing.assert_allclose(by_chance(values, np.full(values.shape, 1 / 8)), exact, atol=0.02)
    rng = np.random.default_rng(5)
    chances = rng.uniform(0.05, 0.3, (60, 1))
    happened = (rng.random((60, 2_000)) < chances).astype(float)
    below = by_chance(happened, chances) < 0.01
    flipped = sign_flip(happened - chances) < 0.01
    assert below.mean() <= 0.012
    assert flipped.mean() > 0.012, "signs take a rare hit for as likely as a miss"


def test_few_items_are_tested_with_all_signs():
    values = np.array([0.3, 1.1, -0.2, 0.8, 2.0])
    means = [abs(np.dot(signs, values)) for signs in itertools.product((1, -1), repeat=5)]
    assert sign_flip(values) == pytest.approx(np.mean(np.array(means) >= abs(values.sum()) - 1e-12))
    assert sign_flip(np.ones(5)) == 2 / 32


def test_drawn_signs_give_about_what_all_signs_give(monkeypatch):
    values = np.random.default_rng(5).normal(0.4, 1, size=(12, 6))
    every = sign_flip(values)
    monkeypatch.setattr(resampling, "FLIPS", 4_000)
    np.testing.assert_allclose(sign_flip(values), every, atol=0.03)


def test_of_values_without_an_effect_one_in_twenty_is_below_five_percent():
    p = sign_flip(np.random.default_rng(1).normal(size=(30, 800)))
    assert 0.03 <= (p < 0.05).mean() <= 0.07
    assert p.min() > 0


def test_the_correction_keeps_the_shape():
    np.testing.assert_allclose(benjamini_hochberg(np.array([[0.01, 0.5], [1, 0.02]])), [[0.04, 2 / 3], [1, 0.04]])
    assert benjamini_hochberg(np.array([0.02])) == 0.02


@pytest.mark.parametrize("count", [2, 7, 100])
def test_halves_hold_each_item_once_and_the_seed_draws_them(count):
    one, other = halves(count, 4)
    assert sorted([*one, *other]) == list(range(count))
    assert len(other) - len(one) == count % 2
    assert all(np.array_equal(*pair) for pair in zip(halves(count, 4), (one, other), strict=True))
    assert count < 100 or not np.array_equal(one, halves(count, 5)[0])
