import numpy as np
import pytest

from explorer.api import ENDPOINTS
from explorer.api.attention import head_metrics, inside_layer, rollout, vocabulary
from explorer.base.errors import InputError, ModelError

TEXT = "The man went to the store."


def test_rollout_is_the_product_up_to_the_layer_that_was_asked(bundled):
    trace = bundled.trace(TEXT)
    step = [0.5 * trace.attention(k).mean(0) + 0.5 * np.eye(trace.kept) for k in range(6)]
    np.testing.assert_allclose(rollout(TEXT, layer=1)["weights"], step[0], atol=1e-6)
    np.testing.assert_allclose(rollout(TEXT, layer=2)["weights"], step[1] @ step[0], atol=1e-6)
    whole = rollout(TEXT)
    assert whole == rollout(TEXT, "", 6, "")
    assert whole["tokens"] == list(trace.tokens)
    np.testing.assert_allclose(np.sum(whole["weights"], axis=-1), 1, atol=1e-9)


def test_head_metrics_are_layers_of_heads():
    metrics = head_metrics(TEXT)["metrics"]
    assert {"entropy", "distance", "cls", "sep", "self", "previous", "next", "same_token", "pattern"} <= set(metrics)
    for values in metrics.values():
        assert np.shape(values) == (6, 12)
    assert all(isinstance(name, str) for row in metrics["pattern"] for name in row)


def test_vocabulary_finds_pieces_and_says_how_many(bundled):
    answer = vocabulary("play", limit=3)
    assert answer["pieces"][0] == {"token": "play", "id": bundled.tokenizer.convert_tokens_to_ids("play")}
    assert len(answer["pieces"]) == 3 < answer["total"]
    assert vocabulary("##ing")["pieces"][0]["token"] == "##ing"
    assert vocabulary("103")["pieces"][0] == {"token": "[MASK]", "id": 103}
    assert vocabulary("qqqqq") == {"pieces": [], "total": 0}


def test_inside_layer_ends_in_the_models_own_output():
    answer = inside_layer(TEXT, layer=3)
    assert answer["max_error"] < 1e-5
    assert answer["steps"][0] == {"name": "hidden state 2", "shape": [9, 384]}
    assert answer["steps"][-1] == {"name": "hidden state 3", "shape": [9, 384]}
    assert inside_layer(TEXT, layer=-1) == inside_layer(TEXT, "", 6, "")


def test_wrong_arguments_get_one_sentence(refusal):
    refusal(InputError, lambda: rollout("", ""))
    refusal(InputError, lambda: rollout(TEXT, layer=7))
    refusal(InputError, lambda: rollout(TEXT, layer=0))
    refusal(InputError, lambda: inside_layer(TEXT, layer=0))
    refusal(InputError, lambda: vocabulary(""))
    refusal(InputError, lambda: vocabulary("a" * 200))
    refusal(InputError, lambda: vocabulary("a", limit=0))
    refusal(ModelError, lambda: head_metrics(TEXT, model="no such folder/at all"))


@pytest.mark.parametrize("endpoint", [rollout, head_metrics, vocabulary, inside_layer])
def test_every_endpoint_is_registered_and_documented(endpoint):
    assert endpoint in ENDPOINTS
    assert endpoint.__doc__
