"""One experiment with several checkpoints: each is one sample, against scipy."""

import json

import numpy as np
import pytest
import scipy

import explorer
from explorer.core.errors import InputError
from explorer.experiments.compute.experiment import experiment
from explorer.experiments.endpoints import experiment as endpoint
from explorer.experiments.new import TYPED, NewExperiment
from explorer.ui.subject import Subject
from tests.unit.test_experiment_questions import BOTH, lines_of


@pytest.fixture(scope="module")
def models(tiny, make_tiny):
    """The tiny model, and two of its size with other weights."""
    return [tiny.name, *(str(make_tiny(initializer_range=spread)) for spread in (0.4, 0.6))]


def test_the_interval_is_over_checkpoints(models):
    found = explorer.over_checkpoints(models, BOTH, "attention", seed=2)
    each = np.stack([experiment(explorer.load(name), BOTH, "attention", seed=2).summary.effects for name in models])
    np.testing.assert_allclose(found.effects, each, atol=1e-6)
    low, high = scipy.stats.t.interval(0.95, 2, each.mean(0), scipy.stats.sem(each, axis=0))
    np.testing.assert_allclose(found.low, low, atol=1e-6)
    np.testing.assert_allclose(found.high, high, atol=1e-6)
    answer = endpoint([one.row for one in BOTH], "attention", seed=2, models=models)
    assert answer == json.loads(json.dumps(answer, allow_nan=False))
    np.testing.assert_allclose(answer["checkpoints"]["mean"], each.mean(0), atol=1e-5)
    assert answer["checkpoints"]["models"] == models
    assert answer["provenance"]["model"] == models[0]
    two = explorer.over_checkpoints(models[:2], BOTH, "attention")
    assert np.isnan(two.low).all(), "two checkpoints have no interval"


def test_checkpoints_of_another_size_and_what_is_no_list_are_refused(models, make_tiny, refusal):
    larger = str(make_tiny(num_hidden_layers=3))
    assert "other layers or heads" in refusal(InputError, lambda: explorer.over_checkpoints([models[0], larger], BOTH))
    refusal(InputError, lambda: explorer.over_checkpoints("tiny", BOTH))
    refusal(InputError, lambda: explorer.over_checkpoints(models[:1], BOTH))


def test_the_page_says_how_many_checkpoints_agree(models):
    subject = Subject.of(explorer.load(models[0]).trace("the man [MASK]"))
    typed = {"source": TYPED, "typed": lines_of(BOTH), "asks": "attention"}
    alone, together = NewExperiment(**typed), NewExperiment(**typed, others="\n".join([*models[1:], models[1]]))
    content = together.compute(subject)
    told, found = together.finding(subject).text, together.known(subject)
    assert told.startswith(alone.finding(subject).text)
    at, every = found.summary.selected, explorer.over_checkpoints(models, BOTH, "attention")
    assert f"Over 3 checkpoints its mean is {every.mean[at]:+.2f}".replace("-", "−") in told
    sure = every.q[at] < 0.05 and every.low[at] * every.high[at] > 0
    assert ("which is not certain; " in told) != sure
    assert f"{sum(run.summary.selected == at for run in every.runs)} of 3 select it" in told
    assert len(content["interval"]["data"][0]["x"]) == 5
    wrong = NewExperiment(**typed, others="no/such-model-here").compute(subject)
    assert "not on this machine" in wrong["problem"]["text"]
