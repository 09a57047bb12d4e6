"""Training: what is learnt, what stays as it was, and that the same seed gives the same numbers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import explorer
from explorer.analysis import evaluation
from explorer.bert.features import encode, features
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute import layers, store
from explorer.finetune.compute.finetune import Progress, most_layer_rate, train, train_top
from explorer.finetune.compute.layers import Prefix, Top, evaluate, hidden_in_steps, seeded_dropout
from explorer.finetune.compute.loop import Loop, loop_plan
from explorer.finetune.compute.task import Task, as_run, go_on, make_plan, run_training, train_whole
from explorer.training.examples import Examples
from explorer.training.head import Classes, Head
from explorer.training.probe import control_targets, probe
from explorer.training.settings import TrainingSettings
from tests.hooks import fingerprint, hooks_of
from tests.learning import learn, learn_run, task_for
from tests.rounding import assert_same_but_for_rounding
from tests.waiting import at_once, drain

TEXTS = [(f"{word * (1 + i % 3)}{i}", label) for i in range(36) for word, label in [("happy ", "yes"), ("sad ", "no")]]
EXAMPLES = Examples(*zip(*TEXTS, strict=True))
PAIRS = Examples(EXAMPLES.texts, EXAMPLES.labels, tuple(f"she was {i}" for i in range(len(EXAMPLES))))


@pytest.mark.parametrize("pooling", ["cls", "mean", "pooler"])
@pytest.mark.parametrize("layers_trained", [0, 1, 2])
def test_a_copied_top_over_the_kept_states_gives_the_features(tiny, pooling, layers_trained):
    states = finished(hidden_in_steps(tiny, encode(tiny, EXAMPLES.pairs), 2 - layers_trained))
    found = evaluate(Top(tiny, 2, layers_trained, pooling).freeze(), states, torch.arange(len(EXAMPLES)))
    wanted = features(tiny, EXAMPLES.texts, 2, pooling)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("examples", "settings"),
    [
        (EXAMPLES, {}),
        (PAIRS, {"optimizer": "lbfgs", "regularization": 0.01}),
        (EXAMPLES, {"layers_trained": 1, "epochs": 30}),
        pytest.param(PAIRS, {"layers_trained": 2, "epochs": 30}, marks=pytest.mark.nightly),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_what_can_be_learnt_is_learnt_and_the_shared_model_stays(tiny, settings, examples):
    before, hooks = fingerprint(tiny), hooks_of(tiny)
    seen, result = drain(run_training(task_for(tiny, examples, **{"epochs": 20, **settings})))
    assert result.history[-1].trained["loss"] < result.history[0].trained["loss"] or len(result.history) == 1
    assert result.history[-1].held_out["accuracy"] >= 0.85
    assert all(isinstance(step, Progress) and 0 <= step.share <= 1 for step in seen)
    assert fingerprint(tiny) == before
    assert not any(parameter.requires_grad for parameter in tiny.module.parameters())
    assert not tiny.module.training
    assert hooks_of(tiny) == hooks
    again = result.predictor.classify(tiny, [examples.pairs[row] for row in result.split.held_out])
    np.testing.assert_allclose(again, result.held_out.probabilities, atol=0.02)
    np.testing.assert_allclose(again.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("layers_trained", [0, 2])
def test_the_same_seed_gives_the_same_numbers_even_side_by_side(tiny, layers_trained):
    def history(seed):
        return learn(tiny, EXAMPLES, pooling="cls", layers_trained=layers_trained, epochs=3, seed=seed).history

    def numbers(history):
        return [[*epoch.trained.values(), *epoch.held_out.values()] for epoch in history]

    alone, other = history(1), history(2)
    assert alone != other
    for found, wanted in zip(at_once(2, lambda at: history(at + 1)), (alone, other), strict=True):  # threads may add up otherwise
        assert_same_but_for_rounding(numbers(found), numbers(wanted))


def test_dropout_drops_its_share_and_keeps_the_mean():
    dropout = seeded_dropout()(0.1, torch.Generator().manual_seed(0)).train()
    ones = torch.ones(100, 1_003)
    found = dropout(ones)
    kept = found != 0
    assert float(kept.float().mean()) == pytest.approx(0.9, abs=0.005)
    assert float(found.mean()) == pytest.approx(1, abs=0.005)
    assert not torch.equal(dropout(ones), found)
    assert abs(np.corrcoef(kept[:, :-8].flatten(), kept[:, 8:].flatten())[0, 1]) < 0.02  # one draw serves eight numbers
    torch.testing.assert_close(dropout.eval()(ones), ones)


def test_the_kept_weights_are_a_mean_of_those_after_the_epochs(tiny, monkeypatch):
    taken, snapshot = [], Top.snapshot

    def watched(top):
        copied = snapshot(top)
        taken.append([weights.clone() for weights in copied.parameters()])
        return copied

    monkeypatch.setattr(Top, "snapshot", watched)
    rows = np.arange(len(EXAMPLES))
    prefix = Prefix(finished(hidden_in_steps(tiny, encode(tiny, EXAMPLES.pairs), 1)), rows, rows)
    settings = TrainingSettings(epochs=5, batch_size=8)
    parts = EXAMPLES.split(0)
    steps = train_top(Top(tiny, 2, 1, "cls"), prefix, Classes(EXAMPLES.targets, len(EXAMPLES.classes)), parts, settings)
    kept = [report[2] for report in steps if isinstance(report, tuple)]
    for place, weights in enumerate(zip(*taken, strict=True)):
        _, second, third, fourth, fifth = weights
        three = torch.stack([second, third, fourth]).mean(0)
        wanted = [weights[0], second, (second + third) / 2, three, (2 * three + fifth) / 3]
        found = [list(top.parameters())[place] for top in kept]
        torch.testing.assert_close(found, wanted)
        assert not torch.equal(second, third)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_steps_of_the_loop_are_those_of_the_training(tiny, monkeypatch, pooling):
    """Dropout aside; the training measures a mean of the weights of epochs only from the third one."""
    monkeypatch.setattr(layers, "seeded_dropout", lambda: lambda p, generator: seeded_dropout()(0, generator))
    plan = loop_plan(make_plan(tiny, -1, pooling, 1, epochs=2, learning_rate=1e-3))
    task, loop = Task(tiny, EXAMPLES, plan), Loop(tiny, EXAMPLES, plan, longest=512)
    trained = [step for step in task.epochs(finished(task.read()), task.split()) if isinstance(step, tuple)]
    for epoch, (wanted, *_) in zip(loop.epochs(loop.total), trained, strict=True):
        assert epoch.as_row() == pytest.approx(wanted.as_row(), abs=1e-5)
        np.testing.assert_allclose(epoch.scores, wanted.scores, atol=1e-4)
    assert trained[1][0].held_out["loss"] < trained[0][0].held_out["loss"]


@pytest.mark.parametrize("layers_trained", [0, 1])
def test_stopped_at_every_stage_it_keeps_what_it_learnt(tiny, layers_trained):
    task = task_for(tiny, EXAMPLES, layers_trained=layers_trained, batch_size=16)
    total = len(drain(run_training(task))[0])
    for stop_after in range(1, total + 1):
        count = 0

        def stop(stop_after=stop_after):
            nonlocal count
            count += 1
            return count >= stop_after

        seen, result = drain(run_training(task, stop))
        epochs = sum(step.epoch is not None for step in seen)
        assert len(seen) in (stop_after - 1, stop_after), "while it reads, it stops before the next report"
        assert (result is None) == (epochs == 0)
        assert result is None or len(result.history) == epochs


def test_the_best_epoch_is_kept(tiny):
    noise = Examples(EXAMPLES.texts, tuple(np.random.default_rng(0).permutation(EXAMPLES.labels).tolist()))
    result = learn(tiny, noise, epochs=20, batch_size=32, learning_rate=0.5, keep_best=True, held_out=0.3)
    assert len(result.history) == 20
    assert result.history[result.best].held_out["accuracy"] == max(e.held_out["accuracy"] for e in result.history)


def test_a_plan_that_makes_no_sense_is_refused(tiny, refusal):
    for wrong in ({"layers_trained": 3}, {"layer": 1, "layers_trained": 2}, {"epochs": -1}, {"seed": 0.5}, {"held_out": 1.0}):
        refusal(InputError, lambda wrong=wrong: make_plan(tiny, **{"layer": -1, "pooling": "mean", **wrong}))
    refusal(InputError, lambda: make_plan(tiny, 1, "pooler"))
    refusal(InputError, lambda: make_plan(tiny, -1, "max"))
    assert most_layer_rate(768) == 5e-5


def test_a_linear_head_says_what_was_trained(tiny):
    vectors = features(tiny, EXAMPLES.texts)
    train_rows, held_rows = parts = EXAMPLES.split(0)
    *_, (epoch, head, _) = train(vectors, Classes(EXAMPLES.targets, len(EXAMPLES.classes)), parts, TrainingSettings(epochs=5))
    right = EXAMPLES.targets
    for rows, accuracy in ((train_rows, epoch.trained["accuracy"]), (held_rows, epoch.held_out["accuracy"])):
        said = head.probabilities(vectors[rows]).argmax(-1)
        assert (said == right[rows]).mean() == pytest.approx(accuracy)
    loss = -np.log(head.probabilities(vectors[held_rows])[np.arange(len(held_rows)), right[held_rows]]).mean()
    assert loss == pytest.approx(epoch.held_out["loss"], abs=1e-4)


def test_what_is_held_out_is_never_trained_on():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(EXAMPLES), 12)).astype(np.float32)
    changed, parts = vectors.copy(), EXAMPLES.split(3)
    changed[parts.held_out] += 100
    for more in ({}, {"optimizer": "lbfgs"}):
        settings = TrainingSettings(seed=3, **more)
        one, other = (
            list(train(given, Classes(EXAMPLES.targets, len(EXAMPLES.classes)), parts, settings))[-1][1]
            for given in (vectors, changed)
        )
        assert np.array_equal(one.weight, other.weight)
        assert np.array_equal(one.bias, other.bias)


def test_the_most_confident_mistakes_come_first():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.3, 0.7]])
    assert evaluation.confident_mistakes(probabilities, np.array([0, 1, 1, 0])).tolist() == [2, 3, 1]
    assert evaluation.confident_mistakes(probabilities, np.array([0, 1, 1, 0]), 2).tolist() == [2, 3]


def test_the_probe_tells_what_is_known_from_what_is_not(tiny):
    seen, layers = drain(probe(tiny, EXAMPLES, "mean", 3))
    assert [row.layer for row in layers] == [0, 1, 2]
    assert layers[0].accuracy > 0.9  # the words are there
    assert all(row.control_accuracy < 0.85 and 0 <= row.deviation <= 0.5 for row in layers)
    assert all(row.low < row.accuracy <= row.high and row.high - row.low > 0.05 for row in layers)  # even where all is right
    held = {EXAMPLES.pairs[row] for seed in range(3) for row in EXAMPLES.split(seed).held_out}
    assert {row.sentences for row in layers} == {len(held)}
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    control = control_targets(PAIRS.pairs, PAIRS.targets, 0)
    assert np.bincount(control).tolist() == np.bincount(PAIRS.targets).tolist()


def test_what_is_no_run_and_what_is_broken_is_refused(tiny_folder, own_runs, monkeypatch, refusal):
    last = learn_run(explorer.load(tiny_folder), EXAMPLES, epochs=1).id
    for wrong in ("", "../../etc", None, 5, "x" * 22, f"{last}/..", [last]):
        refusal(InputError, lambda wrong=wrong: store.fetch(wrong))
    (own_runs / last / "weights.safetensors").write_bytes(b"broken")
    monkeypatch.setattr(store, "_read", type(store._read)(4))
    refusal(InputError, lambda: store.fetch(last))


def test_a_head_with_a_hidden_layer_computes_what_torch_does():
    rng = np.random.default_rng(0)
    below, last = torch.nn.Linear(6, 5), torch.nn.Linear(5, 3)
    head = Head(*(p.detach().numpy() for p in (last.weight, last.bias, below.weight, below.bias)))
    vectors = rng.normal(size=(4, 6)).astype(np.float32)
    wanted = torch.nn.Sequential(below, torch.nn.ReLU(), last)(torch.from_numpy(vectors)).softmax(-1)
    np.testing.assert_allclose(head.probabilities(vectors), wanted.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("layers_trained", [0, 1])
def test_a_training_goes_on_from_where_another_one_ended(tiny, layers_trained):
    examples = Examples(tuple(f"{word} {row}" for row in range(8) for word in ("cat", "dog")), ("a", "b") * 8)
    numbers = {"epochs": 4, "learning_rate": 0.01, "batch_size": 4}
    first = learn(tiny, examples, layers_trained=layers_trained, **numbers)
    run = as_run(first, "first", "")
    assert "start" not in run.settings
    plan = go_on(tiny, run.predictor, run.settings)
    second = train_whole(Task(tiny, examples, plan))
    np.testing.assert_array_equal(first.split.held_out, second.split.held_out)
    assert second.history[0].trained["loss"] < first.history[0].trained["loss"]
    still = replace(plan, settings=replace(plan.settings, learning_rate=1e-6, epochs=1))
    if not layers_trained:  # whose head learns at a rate of its own
        same = train_whole(Task(tiny, examples, still))
        assert same.history[0].held_out["loss"] == pytest.approx(first.history[-1].held_out["loss"], abs=1e-3)
