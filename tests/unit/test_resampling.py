"""Intervals, tests and their correction, against SciPy, plain loops and what is known of them."""

import itertools

import numpy as np
import pytest
import scipy

from explorer.analysis import resampling
from explorer.analysis.resampling import (
    FEWEST_GROUPS,
    benjamini_hochberg,
    bootstrap,
    by_chance,
    by_group,
    differs,
    halve_groups,
    sign_flip,
    wilson,
    wilson_by_group,
)
from tests.benchmarks import coverage


def test_the_studentized_interval_is_that_of_a_plain_loop():
    rng = np.random.default_rng(3)
    sizes, noise = rng.integers(1, 6, 40), rng.exponential(size=40)
    sums = sizes * (noise - 0.5)

    def mean_and_error(rows):
        mean = sums[rows].sum() / sizes[rows].sum()
        return mean, np.sqrt(((sums[rows] - mean * sizes[rows]) ** 2).sum()) / sizes[rows].sum()

    mean, error = mean_and_error(np.arange(40))
    drawn = (mean_and_error(rng.integers(0, 40, 40)) for _ in range(6_000))
    low, high = np.percentile([(one - mean) / spread for one, spread in drawn], (97.5, 2.5))
    found = bootstrap(sums, sizes=sizes)
    assert found.low == pytest.approx(mean - low * error, abs=0.1 * (high - low) ** 2 * error)
    assert found.high == pytest.approx(mean - high * error, abs=0.1 * (high - low) ** 2 * error)
    assert found.low < mean < found.high


@pytest.mark.parametrize("case", ["12 groups × 5 items, correlation 0.7", "20 independent items", "20 lognormal items"])
def test_the_interval_contains_the_true_mean_about_as_often_as_it_says(case):
    within, below, *by_item = coverage.measure(coverage.CASES[case], runs=500)
    assert 0.91 <= within <= 0.98
    assert 0.02 <= below <= 0.08
    assert case == "20 independent items" or (by_item[0] < 0.9 and by_item[1] > 0.09), "as if copies were evidence, or skew none"


def test_copies_change_nothing():
    values = np.random.default_rng(2).normal(0.3, 1, (7, 3))
    copied, groups = np.repeat(values, 10, axis=0), np.repeat(np.arange(7), 10)
    sums, sizes = by_group(copied, groups), np.bincount(groups)
    for found, wanted in zip(bootstrap(sums, sizes=sizes), bootstrap(values), strict=True):
        np.testing.assert_allclose(found, wanted)
    np.testing.assert_allclose(differs(sums, sizes=sizes), differs(values))


def test_what_rounding_leaves_of_values_that_cancel_decides_nothing():
    effects = np.random.default_rng(4).normal(size=8)
    values, groups = np.concatenate([effects, -effects]), np.tile(np.arange(8), 2)
    for noise in (0, 1e-7, -1e-7):
        assert differs(by_group(values + noise, groups)) == 1
    assert by_group(np.array([1.0, -0.999]), np.zeros(2, int)) == pytest.approx(0.001)


def test_few_groups_have_no_interval():
    values = np.random.default_rng(0).normal(size=(FEWEST_GROUPS, 2))
    assert np.isnan(bootstrap(values[1:]).low).all()
    assert np.isnan(wilson_by_group((values[1:] > 0).astype(float), np.ones(FEWEST_GROUPS - 1))).all()
    assert not np.isnan(bootstrap(values).low).any()


def test_equal_values_are_their_own_interval():
    low, high, p = bootstrap(np.full((8, 1), 0.5))
    assert low == high == 0.5
    assert p < 0.01
    assert bootstrap(np.zeros((8, 1))).p == 1


def test_the_interval_of_a_share_is_wilsons_where_items_are_independent():
    hits = np.array([1.0] * 45 + [0.0] * 15)
    wanted = wilson(45, 60)
    np.testing.assert_allclose(np.array(wilson_by_group(hits, np.ones(60))), wanted, atol=0.005)
    twice = np.array(wilson_by_group(2 * hits, np.full(60, 2)))
    np.testing.assert_allclose(twice, wanted, atol=0.005, err_msg="every item twice is no new evidence")
    low, high = wilson_by_group(np.ones(9), np.ones(9))
    assert 0.6 < low < high == 1, "nine of nine is not certain"


def test_copies_of_a_hit_are_drawn_together():
    values, groups = np.repeat([1.0, 0, 0, 1, 1], 6), np.repeat(np.arange(5), 6)
    chances = np.full(30, 0.3)
    together = by_chance(values, chances, groups=groups)
    assert together == pytest.approx(by_chance(values[::6], chances[::6]), abs=0.03)
    assert by_chance(values, chances) < 0.01 < together


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
    monkeypatch.setattr(resampling, "DRAWS", 4_000)
    np.testing.assert_allclose(sign_flip(values), every, atol=0.03)


def test_of_values_without_an_effect_one_in_twenty_is_below_five_percent():
    p = sign_flip(np.random.default_rng(1).normal(size=(30, 800)))
    assert 0.03 <= (p < 0.05).mean() <= 0.07
    assert p.min() > 0
    assert sign_flip(np.ones(60)) == 1 / (resampling.DRAWS + 1), "no drawn signs are as far from 0, and the observed ones count"


def test_the_correction_keeps_the_shape():
    np.testing.assert_allclose(benjamini_hochberg(np.array([[0.01, 0.5], [1, 0.02]])), [[0.04, 2 / 3], [1, 0.04]])
    assert benjamini_hochberg(np.array([0.02])) == 0.02


@pytest.mark.parametrize("count", [2, 7, 100])
def test_halves_hold_each_item_once_and_the_seed_draws_them(count):
    one, other = halve_groups(np.arange(count), 4)
    assert sorted([*one, *other]) == list(range(count))
    assert len(other) - len(one) == count % 2
    assert all(np.array_equal(*pair) for pair in zip(halve_groups(np.arange(count), 4), (one, other), strict=True))
    assert count < 100 or not np.array_equal(one, halve_groups(np.arange(count), 5)[0])
