"""Leave-one-out solved together against scikit-learn's regressions, one by one; its plane; and gradient descent towards it."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from explorer.finetune.compute.in_turn import STEPS, Heads, in_slow_motion, solve
from explorer.finetune.compute.texts import words_in_turn
from explorer.finetune.pictures import Plane, centred_logits
from explorer.training.examples import Examples, leave_one_out
from explorer.training.head import Scale

PENALTY = 0.3


def make(labels, count=14, hidden=40, seed=3):
    rng = np.random.default_rng(seed)
    targets = np.arange(count) % labels
    vectors = rng.normal(size=(count, hidden)) + rng.normal(size=(labels, hidden))[targets]
    texts = tuple(f"text {row}" for row in range(count))
    return vectors.astype(np.float32), Examples(texts, tuple(f"label {target}" for target in targets))


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_all_heads_together_are_the_regressions_one_by_one(labels):
    torch = pytest.importorskip("torch")
    vectors, examples = make(labels)
    heads = Heads.of(vectors, examples)
    together = softmax(heads.of_left_out(solve(heads, PENALTY)), axis=1)
    for seen in leave_one_out(examples):
        scale = Scale.of(torch.from_numpy(vectors[seen]))
        scaled = scale.apply(torch.from_numpy(vectors)).double().numpy()
        alone = LogisticRegression(C=1 / PENALTY, tol=1e-10, max_iter=5_000).fit(scaled[seen], examples.targets[seen])
        np.testing.assert_allclose(alone.predict_proba(scaled[~seen]), together[~seen], atol=2e-5)


def test_a_head_is_not_moved_by_the_text_that_it_leaves_out():
    vectors, examples = make(3)
    heads = Heads.of(vectors, examples)
    before = solve(heads, PENALTY)
    changed = heads.right.copy()
    changed[0] = np.roll(changed[0], 1)
    after = solve(Heads(heads.seen, heads.products, changed), PENALTY)
    np.testing.assert_allclose(before[0], after[0], atol=1e-5)
    assert np.abs(before[1] - after[1]).max() > 1e-3


@pytest.mark.parametrize("labels", [2, 3])
def test_gradient_descent_starts_even_and_comes_to_the_solution(labels):
    vectors, examples = make(labels)
    heads = Heads.of(vectors, examples)
    moments = list(in_slow_motion(heads, PENALTY))
    assert [moment.step for moment in moments] == list(STEPS)
    np.testing.assert_allclose(moments[0].probabilities, 1 / labels)
    end = softmax(heads.of_left_out(solve(heads, PENALTY)), axis=1)
    far = [np.abs(moment.probabilities - end).max() for moment in moments]
    assert far[-1] < 0.01 < far[5] < far[0]


def test_equal_texts_are_left_out_together():
    vectors, examples = make(2, count=6)
    double = Examples(("one", "ONE ", *examples.texts[2:]), ("label 0", "label 1", *examples.labels[2:]))
    assert len(Heads.of(vectors, double).seen) == 5
    assert (Heads.of(vectors, double).seen == 0).sum() == 6


def test_words_are_counted_with_classes_of_equal_weight():
    cats = tuple(f"cat purr meow {word}" for word in ("one", "two", "three", "four", "five", "six", "seven"))
    cars = tuple(f"car road fuel {word}" for word in ("eight", "nine", "ten"))
    assert words_in_turn(Examples(cats + cars, ("animal",) * 7 + ("vehicle",) * 3)) == 1
    nothing = Examples(("a b", "c d", "e f", "g h"), ("one", "two", "one", "two"))
    assert words_in_turn(nothing) <= 0.5


@pytest.mark.parametrize("labels", [2, 3, 6])
def test_a_point_lies_in_the_region_of_its_answer(labels):
    rng = np.random.default_rng(labels)
    probabilities = softmax(2 * rng.normal(size=(40, labels)), axis=1)
    plane = Plane.of(probabilities)
    places = plane.places(probabilities)
    scores = plane.origin + places @ plane.directions
    if labels <= 3:
        assert (scores.argmax(1) == probabilities.argmax(1)).all()
        np.testing.assert_allclose(softmax(scores, axis=1), probabilities, atol=1e-6)
        assert plane.share == 1
        return
    logits = centred_logits(probabilities)
    left = ((logits - scores) ** 2).sum() / ((logits - logits.mean(0)) ** 2).sum()
    assert plane.share == pytest.approx(1 - left)
    np.testing.assert_allclose(plane.directions @ plane.directions.T, np.eye(2), atol=1e-9)
