"""Few examples: as many steps as they ask for, all of them learnt, and each left out in turn to say how good that is."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from explorer.bert import features as feature_cache
from explorer.bert.features import _caches, features
from explorer.finetune import runs as runs
from explorer.training.examples import Examples
from explorer.training.settings import FEW_REGULARIZATION, TrainingSettings
from tests import learning
from tests.topics import TOPICS

TYPED = TOPICS["news"].typed


def learn(model, examples, **settings):
    return learning.learn(model, examples, **{"epochs": 0, "batch_size": 32, **settings})


@pytest.mark.parametrize("examples", [4, 18, 99, 500, 2_000, 50_000])
@pytest.mark.parametrize(("layers", "epochs", "steps"), [(0, 10, 300), (2, 4, 100)])
def test_as_many_epochs_as_make_enough_steps(examples, layers, epochs, steps):
    settings = TrainingSettings(epochs=0)
    found = settings.fill_in(examples, layers).epochs
    batches = math.ceil(round(examples * 0.8) / settings.batch_size)
    assert found >= epochs
    assert found * batches >= steps
    assert found == epochs or (found - 1) * batches < steps, "and no more than that"
    assert TrainingSettings(epochs=7).fill_in(examples, layers).epochs == 7


def test_leaving_out_is_what_scikit_learn_makes_of_it(bundled):
    result = learn(bundled, TYPED)
    vectors = features(bundled, TYPED.texts, -1, "mean")
    shorter = FunctionTransformer(lambda inputs: inputs / np.sqrt(inputs.shape[1]))
    method = make_pipeline(StandardScaler(), shorter, LogisticRegression(C=1 / FEW_REGULARIZATION, max_iter=300))
    by_hand = cross_val_predict(method, vectors, TYPED.targets, cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(result.held_out.probabilities, by_hand, atol=0.02)
    right = (by_hand.argmax(1) == TYPED.targets).mean()
    assert result.history[-1].held_out["accuracy"] == pytest.approx(right)
    kept = result.predictor.classify(bundled, TYPED.pairs)
    np.testing.assert_allclose(kept, method.fit(vectors, TYPED.targets).predict_proba(vectors), atol=0.02)


def test_layers_trained_on_few_are_judged_by_a_split(tiny):
    few = Examples(TYPED.texts[:6], tuple("ab" * 3))
    deep = learn(tiny, few, layers_trained=1)
    assert len(deep.held_out.targets) < 6
    assert len(deep.history) == 100


def test_nothing_is_chosen_on_few_held_out_examples(bundled):
    shuffled = np.random.default_rng(1).permutation(TYPED.labels)
    result = learn(bundled, Examples(TYPED.texts, tuple(shuffled.tolist())), epochs=12, learning_rate=0.3, keep_best=True)
    scores = [(epoch.held_out["accuracy"], -epoch.held_out["loss"]) for epoch in result.history]
    assert len(result.held_out.targets) < 20
    assert max(scores) > scores[-1], "the last is not the best"
    assert result.best == len(result.history) - 1


def test_clear_sentences_of_ten_typed_topics_are_told_apart_surely(bundled):
    shares = []
    for name, topic in TOPICS.items():
        probabilities = learn(bundled, topic.typed).predictor.classify(bundled, topic.tried.pairs)
        right = probabilities[np.arange(len(topic.tried)), topic.tried.targets]
        assert (probabilities.argmax(1) == topic.tried.targets).mean() > 0.8, name
        shares.append(right)
    assert (np.concatenate(shares) > 0.6).mean() > 0.9
    assert np.concatenate(shares).mean() > 0.85


def test_another_line_costs_one_sentence(bundled, monkeypatch):
    read, pooled = [], feature_cache.pool
    monkeypatch.setattr(feature_cache, "pool", lambda model, texts, *rest: read.extend(texts) or pooled(model, texts, *rest))
    _caches.clear()
    first = runs.learn(bundled.name, TYPED, "News")
    assert len(read) == len(TYPED)
    more = Examples((*TYPED.texts, "The goalkeeper was sent off."), (*TYPED.labels, "sport"))
    second = runs.learn(bundled.name, more, "News")
    assert len(read) == len(more)
    assert first.id != second.id
    assert runs.learn(bundled.name, more, "News") is second
