"""Trainings by the dozen: a grid of settings, and more and more examples."""

import numpy as np
import pytest

from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import text_tasks
from explorer.finetune.compute.baselines import baselines
from explorer.finetune.compute.searches import GRIDS, HEAD, PAPER, Grid, learning_curve, proportional_order, search, sizes
from explorer.finetune.compute.task import make_plan
from explorer.finetune.compute.text_tasks import text_task
from explorer.finetune.compute.training import run_training
from explorer.training.examples import Examples, ScoredExamples, Split, split

TEXTS = [(f"{word} {i}", label) for i in range(30) for word, label in [("happy", "yes"), ("sad", "no")]]
EXAMPLES = Examples(*zip(*TEXTS, strict=True))
NUMBERS = ScoredExamples(
    EXAMPLES.texts, tuple("12345"[i % 5] for i in range(60)), numbers=tuple(float(1 + i % 5) for i in range(60))
)
SMALL = Grid((8, 16), (1e-3, 1e-4), (1, 2), True, "")


def run(steps):
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as done:
            return seen, done.value


def test_the_papers_grid_is_the_papers():
    assert len(set(PAPER.settings())) == 2 * 3 * 3
    assert {(16, 5e-5, 3), (32, 2e-5, 4), (32, 3e-5, 2)} <= set(PAPER.settings())
    for grid in GRIDS.values():
        epochs = [number for _, _, number in grid.settings()]
        assert epochs == sorted(epochs), "the quick ones are there first"


@pytest.mark.parametrize("layers", [0, 1])
def test_every_row_of_a_grid_is_the_training_with_its_settings(tiny, layers, monkeypatch):
    read = []
    for name in ("hidden_states", "text_features"):
        own = getattr(text_tasks, name)
        monkeypatch.setattr(text_tasks, name, lambda *given, own=own: read.append(given) or own(*given))
    task = text_task(tiny, EXAMPLES, make_plan(tiny, -1, "cls", layers))
    seen, cells = run(search(task, SMALL))
    assert len(read) == 1, "the frozen part is read once for all"
    assert [(one.batch_size, one.learning_rate, one.epochs) for one in cells] == SMALL.settings()
    shares = [step.share for step in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert [len(step.cells) for step in seen][-1] == 8
    plan = make_plan(tiny, -1, "cls", layers, batch_size=16, learning_rate=1e-4, epochs=2)
    alone = finished(run_training(text_task(tiny, EXAMPLES, plan))).history[-1].held_out
    assert cells[-1].score == alone["accuracy"]
    assert cells[-1].loss == pytest.approx(alone["loss"])


def test_a_grid_and_a_curve_take_numbers_too(tiny):
    task = text_task(tiny, NUMBERS, make_plan(tiny, -1, "mean"))
    assert all(-1 <= one.score <= 1 for one in [*finished(search(task, HEAD)), *finished(learning_curve(task, 1))])


def test_a_curve_doubles_its_examples_up_to_all():
    assert sizes(800) == [25, 50, 100, 200, 400, 800]
    assert sizes(130) == [25, 50, 100, 130]
    assert sizes(9) == [9]
    assert sizes(226) == [25, 50, 100, 226]


def test_a_part_of_the_examples_has_every_class_as_often_as_all_have():
    labels = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    examples = Examples(tuple(f"text {i}" for i in range(100)), tuple(labels))
    order = proportional_order(examples, np.arange(100), seed=1)
    assert sorted(order) == list(range(100))
    assert {labels[row] for row in order[:3]} == {"a", "b", "c"}
    for count in (10, 20, 50):
        counts = [sum(labels[row] == name for row in order[:count]) for name in "abc"]
        np.testing.assert_allclose(counts, [0.6 * count, 0.3 * count, 0.1 * count], atol=2)
    assert list(proportional_order(examples, np.arange(100), seed=2)) != list(order)


def test_a_curve_ends_with_all_examples_and_begins_with_a_few(tiny):
    task = text_task(tiny, EXAMPLES, make_plan(tiny, -1, "mean"))
    seen, points = run(learning_curve(task, 2))
    assert [point.examples for point in points] == [25, 48]
    assert [share for share, _ in seen] == sorted(share for share, _ in seen)
    scores, words = [], []
    for seed in range(2):
        plan = make_plan(tiny, -1, "mean", seed=seed, optimizer="lbfgs")
        result = finished(run_training(text_task(tiny, EXAMPLES, plan)))
        scores.append(result.history[0].held_out["accuracy"])
        words.append(baselines(EXAMPLES, split(EXAMPLES, seed))["bag of words"])
    assert points[-1].score == pytest.approx(np.mean(scores))
    assert points[-1].deviation == pytest.approx(np.std(scores))
    assert points[-1].words == pytest.approx(np.mean(words))


def test_examples_are_drawn_with_all_that_belongs_to_them():
    pairs = Examples(EXAMPLES.texts, EXAMPLES.labels, tuple(f"b {i}" for i in range(60)))
    few = pairs.draw(10)
    assert len(few) == 10
    for text, label, second in zip(few.texts, few.labels, few.texts_b, strict=True):
        row = pairs.texts.index(text)
        assert (pairs.labels[row], pairs.texts_b[row]) == (label, second)
    assert pairs.draw(60) is pairs
    assert len(NUMBERS.draw(7).numbers) == 7
    assert EXAMPLES.draw(10).texts_b == ()
    with pytest.raises(InputError):
        split(Examples(("a",), ("x",)), 0)
    assert isinstance(split(few, 0), Split)
