import numpy as np
import pytest
import torch

from explorer.analysis.similarity import cosine_matrix, mean_of_pairs
from explorer.bert import features as module
from explorer.bert.features import ANY_TOKEN, features, layer_features_in_steps
from explorer.core.steps import finished

SENTENCES = [
    f"the {size} cat {verb} the {what} ." for size in ("sad", "happy") for verb in ("went to", "bought") for what in "abc"
]


@pytest.fixture
def passes(monkeypatch, tiny, bundled):
    """How many rows went through the model: one number a batch."""
    rows = []
    embed = type(tiny).embed
    monkeypatch.setattr(type(tiny), "embed", lambda model, ids, segments: rows.append(len(ids)) or embed(model, ids, segments))
    module._caches.clear()
    return rows


def test_texts_that_were_read_are_not_read_again(tiny, passes):
    first = features(tiny, SENTENCES)
    assert sum(passes) == len(SENTENCES)
    np.testing.assert_array_equal(features(tiny, SENTENCES[::-1])[::-1], first)
    features(tiny, [*SENTENCES, "milk", "milk"])
    assert sum(passes) == len(SENTENCES) + 1


def test_a_pass_stops_at_the_layer_that_is_asked_for_and_serves_those_below(tiny, passes, monkeypatch):
    last = tiny.layers[-1].module
    monkeypatch.setattr(last, "forward", lambda *args, **more: pytest.fail("ran a layer too many"))
    features(tiny, SENTENCES, tiny.capabilities.layers - 1)
    features(tiny, SENTENCES, 0)
    assert sum(passes) == len(SENTENCES)


def test_nobody_can_write_on_what_is_kept_for_all(tiny):
    rows = features(tiny, ["A cat."])
    with pytest.raises(ValueError, match="read-only"):
        next(iter(module._caches[tiny].values()))[0] = 1
    assert np.array_equal(features(tiny, ["A cat."]), rows)


def test_the_reference_is_one_token_of_each_text(tiny):
    texts = ["the man went", "a", "she was happy to walk"]
    states = finished(layer_features_in_steps(tiny, texts, ANY_TOKEN))
    for i, text in enumerate(texts):
        own = tiny.trace(text).hidden_states  # [layers + 1, tokens, hidden]
        errors = np.abs(own - states[:, [i]]).max(axis=(0, 2))
        assert errors.argmin() not in (0, own.shape[1] - 1), "not [CLS], not [SEP]"
        assert errors.min() < 1e-5
    assert -1 <= mean_of_pairs(cosine_matrix(states[-1])) <= 1


def test_the_poolers_formula_gives_the_poolers_output(bundled, eager):
    trace = bundled.trace("The man went home.", "He slept.")
    vector, (weight, bias) = trace.pooler_output(), bundled.pooler_weights
    np.testing.assert_allclose(np.tanh(weight @ trace.hidden_states[-1, 0] + bias), vector, atol=1e-5)
    _, reference = eager(bundled, "The man went home.", "He slept.")
    with torch.no_grad():
        pooled = bundled.module.bert.pooler(reference.hidden_states[-1])[0].numpy()
    np.testing.assert_allclose(vector, pooled, atol=1e-5)
