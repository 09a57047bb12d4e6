import numpy as np
import pytest

from explorer.bert.features import BATCH_SIZE, features
from explorer.core.errors import InputError

TEXTS = [
    "The man went to the store, and she bought milk!",
    "a",
    "she was happy",
    "the slow dog " * 12,
    "[MASK]",
    "the slow dog " * 12 + "walked",
    "I ❤️ שלום <b>",
    "the man went to the store " * 200,  # cut, as its trace is
    "a",
]


def one_by_one(model, texts, layer, pooling):
    vectors = []
    for text in texts:
        trace = model.trace(text)
        state = trace.hidden_states[layer]
        pooled = model.pooler(trace.states[-1:])[0].numpy() if pooling == "pooler" else None
        vectors.append({"cls": state[0], "mean": state.mean(0), "pooler": pooled}[pooling])
    return np.stack(vectors)


@pytest.mark.parametrize("layer", [0, 1, 2, -1])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_every_row_is_what_the_trace_of_its_text_says(model, layer, pooling):
    found = features(model, TEXTS, layer, pooling)
    assert found.shape == (len(TEXTS), model.capabilities.hidden_size)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, one_by_one(model, TEXTS, layer, pooling), atol=1e-5, rtol=0)


def test_the_pooler_reads_the_last_layer_only(model, refusal):
    last = model.capabilities.layers
    for layer in (-1, last):
        found = features(model, TEXTS, layer, "pooler")
        np.testing.assert_allclose(found, one_by_one(model, TEXTS, -1, "pooler"), atol=1e-5, rtol=0)
    for layer in (0, last - 1):
        refusal(InputError, lambda layer=layer: features(model, TEXTS, layer, "pooler"))


@pytest.mark.parametrize(("layer", "read"), [(-1, slice(-4, None)), (1, slice(0, 2))])
def test_four_hidden_states_side_by_side(model, layer, read):
    found = features(model, TEXTS, layer, "last4")
    states = [model.trace(text).hidden_states[read].mean(1).reshape(-1) for text in TEXTS]
    np.testing.assert_allclose(found, states, atol=1e-5, rtol=0)


def test_the_order_and_the_company_make_no_difference(tiny):
    texts = [f"{'the man ' * (i * 7 % 23)}milk {i}" for i in range(2 * BATCH_SIZE + 5)]
    shuffled = np.random.default_rng(0).permutation(len(texts))
    found = features(tiny, texts)
    assert len(np.unique(found.round(4), axis=0)) == len(texts)
    np.testing.assert_allclose(features(tiny, [texts[i] for i in shuffled]), found[shuffled], atol=1e-5, rtol=0)
    np.testing.assert_allclose(found, one_by_one(tiny, texts, -1, "mean"), atol=1e-5, rtol=0)
