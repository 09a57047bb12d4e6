"""The contract of the public endpoints, over HTTP, against the library and against transformers itself."""

import json
import re

import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import explorer
from explorer.bert.features import features
from explorer.endpoints import ENDPOINTS

A, B = "The man went to the [MASK] store.", "He bought some milk."
EXAMPLES = [[f"{word} day number {i}", label] for i in range(6) for word, label in [("good", "yes"), ("bad", "no")]]


@pytest.fixture(scope="module")
def client(served):
    with pytest.MonkeyPatch.context() as patch:
        # Making a client, not serving one, asks the hub for a list of agents; nothing here may leave the machine.
        patch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
        yield Client(served, verbose=False)


@pytest.fixture
def ask(client):
    def ask(endpoint, *arguments, **named):
        return client.predict(*arguments, **named, api_name=f"/{endpoint}")

    return ask


def test_no_other_endpoint_is_public(client):
    described = client.view_api(return_format="dict", print_info=False)
    assert set(described["named_endpoints"]) == {f"/{endpoint.__name__}" for endpoint in ENDPOINTS}
    assert not described["unnamed_endpoints"]


def test_every_endpoint_is_in_the_guide_with_its_arguments(client, guide):
    described = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    for name, endpoint in described.items():
        row = next(line for line in guide["api"].splitlines() if line.startswith(f"| `{name}`"))
        given = re.findall(r"(\w+)(?:=[^,`]+)?(?=[,`])", row.split("|")[2])
        assert given == [argument["parameter_name"] for argument in endpoint["parameters"]], name


def test_models(ask):
    answer = ask("models")
    assert answer["default"] == "bert-l6-h384-uncased"
    first = answer["models"][0]
    assert first["name"] == answer["default"]
    assert set(first) == {
        *("name", "layers", "heads", "hidden_size", "vocab_size", "parameters"),
        *("fill_mask", "next_sentence", "segments"),
    }
    assert (first["layers"], first["heads"], first["hidden_size"]) == (6, 12, 384)


def test_tokens(ask, bundled, eager):
    answer = ask("tokens", A, B)
    encoded, _ = eager(bundled, A, B)
    assert answer["ids"] == encoded["input_ids"][0].tolist()
    assert answer["segments"] == encoded["token_type_ids"][0].tolist()
    assert answer["positions"] == list(range(len(answer["ids"])))
    assert answer["kept"] == answer["total"] == len(answer["tokens"]) == sum(answer["attention_mask"])
    assert all(isinstance(span, list) and len(span) == 2 for span in answer["offsets"])


def test_attention_and_hidden_states_are_those_of_transformers(ask, bundled, eager):
    _, output = eager(bundled, A, B)
    for layer, head in ((1, 1), (6, 12), (3, 7)):
        answer = ask("attention", A, B, layer, head)
        wanted = output.attentions[layer - 1][0, head - 1].numpy()
        np.testing.assert_allclose(answer["weights"], wanted, atol=1e-5)
    for layer in (0, 4, -1):
        answer = ask("hidden_states", A, B, layer)
        np.testing.assert_allclose(answer["vectors"], output.hidden_states[layer][0].numpy(), atol=1e-5)


def test_fill_mask_and_next_sentence_are_those_of_transformers(ask, bundled, eager):
    _, output = eager(bundled, A, B)
    (mask,) = ask("fill_mask", A, B, 7)["masks"]
    shares = output.prediction_logits[0, mask["position"]].softmax(-1)
    assert [candidate["id"] for candidate in mask["candidates"]] == shares.topk(7).indices.tolist()
    np.testing.assert_allclose([c["probability"] for c in mask["candidates"]], shares.topk(7).values, atol=1e-5)
    answer = ask("next_sentence", A, B)
    wanted = output.seq_relationship_logits[0].softmax(-1).tolist()
    np.testing.assert_allclose([answer["is_next"], answer["not_next"]], wanted, atol=1e-5)


def test_values_travel_in_full_precision(ask, bundled):
    wanted = bundled.trace(A, B).attention(0)[0]
    assert np.array_equal(np.array(ask("attention", A, B)["weights"], dtype=np.float32), wanted)


def test_projection(ask, bundled):
    texts = ["a cat", "a dog", "the sea", "a river", "two boats", "the moon"]
    answer = ask("projection", texts)
    vectors = features(bundled, texts)
    centred = vectors - vectors.mean(0)
    variance = (np.linalg.svd(centred, compute_uv=False) ** 2)[:2]
    np.testing.assert_allclose(answer["explained_variance"], variance / (centred**2).sum(), rtol=1e-3)
    np.testing.assert_allclose((np.array(answer["points"]) ** 2).sum(0), variance, rtol=1e-3)
    assert np.array(ask("projection", texts, "umap", dimensions=3)["points"]).shape == (6, 3)
    assert ask("projection", texts, "umap")["explained_variance"] is None


def test_similarities(ask, bundled):
    texts = ["the bank of the river", "money in the bank", "a loan from the bank"]
    answer = ask("similarity", *texts[:2], 3)
    states = bundled.trace(*texts[:2]).hidden_states[3]
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    np.testing.assert_allclose(answer["matrix"], unit @ unit.T, atol=1e-5)
    assert answer["tokens"] == list(bundled.trace(*texts[:2]).tokens)
    layers = ask("word_in_context", *texts[:2], "bank")["layers"]
    assert len(layers) == bundled.capabilities.layers + 1
    vectors = features(bundled, texts, 2, "cls")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(ask("sentence_similarity", texts, 2, "cls")["matrix"], unit @ unit.T, atol=1e-5)
    assert 0 <= ask("projection", texts, neighbors=3, min_dist=0.5, seed=2)["trustworthiness"] <= 1


def test_a_head_is_trained_and_classifies(ask):
    answer = ask("train_head", EXAMPLES, epochs=20)
    assert set(answer) == {"head", "labels", "history", "held_out_accuracy", "baselines"}
    assert answer["labels"] == ["no", "yes"]
    assert [row["epoch"] for row in answer["history"]] == list(range(1, 21))
    assert set(answer["history"][0]) == {"epoch", "train_loss", "held_out_loss", "held_out_accuracy"}
    assert answer["history"][-1]["train_loss"] < answer["history"][0]["train_loss"]
    found = ask("classify", ["good day number 3", "bad day number 3"], answer["head"])
    assert found["labels"] == ["yes", "no"]
    np.testing.assert_allclose(np.sum(found["probabilities"], axis=1), 1, atol=1e-5)
    again = ask("train_head", EXAMPLES, epochs=20)
    assert again["history"] == answer["history"]
    assert again["head"] != answer["head"]


PAYLOADS = {"empty": "", "blank": " \t\n", "long": "word " * 20_000, "control": "\x00\x07\x1b"}
GOOD_TEXTS = {
    "emoji": "I like 🍎 and 👩‍👩‍👧",
    "right to left": "مرحبا بالعالم",
    "html": "<img src=x onerror=alert(1)>",
    "template": "${alert(1)} {{value}} `x`",
    "only a mask": "[MASK]",
    "controls among words": "the\x00 man\x07",
}


@pytest.mark.parametrize("text", GOOD_TEXTS.values(), ids=GOOD_TEXTS)
def test_odd_texts_are_read(ask, text):
    answer = ask("tokens", text)
    assert answer["tokens"][0] == "[CLS]"
    assert np.allclose(np.sum(ask("attention", text)["weights"], axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("text", [PAYLOADS[name] for name in ("empty", "blank", "long", "control")])
@pytest.mark.parametrize("endpoint", ["tokens", "attention", "hidden_states", "fill_mask", "next_sentence"])
def test_texts_that_cannot_be_read_are_refused(ask, endpoint, text):
    more = ("B.",) if endpoint == "next_sentence" else ()
    assert_one_sentence(lambda: ask(endpoint, text, *more))


REFUSED = {
    "layer 99": ("attention", ["hello", "", 99]),
    "layer 0 of attention": ("attention", ["hello", "", 0]),
    "head 13": ("attention", ["hello", "", 1, 13]),
    "half a layer": ("hidden_states", ["hello", "", 1.5]),
    "layer as a word": ("hidden_states", ["hello", "", "one"]),
    "unknown model": ("tokens", ["hello", "", "no-such/model"]),
    "path for a model": ("tokens", ["hello", "", "../../../etc/passwd"]),
    "folder for a model": ("tokens", ["hello", "", "/etc"]),
    "text that is a number": ("tokens", [5]),
    "no mask": ("fill_mask", ["hello"]),
    "no guesses": ("fill_mask", ["[MASK]", "", 0]),
    "a million guesses": ("fill_mask", ["[MASK]", "", 1_000_000]),
    "no second sentence": ("next_sentence", ["hello", ""]),
    "no texts": ("projection", [[]]),
    "an empty text": ("projection", [["a", ""]]),
    "text for a list": ("projection", ["abc"]),
    "unknown method": ("projection", [["a", "b"], "magic"]),
    "four dimensions": ("projection", [["a", "b"], "pca", -1, "mean", 4]),
    "unknown pooling": ("projection", [["a", "b"], "pca", -1, "max"]),
    "pooler of a lower layer": ("projection", [["a", "b"], "pca", 2, "pooler"]),
    "one neighbour": ("projection", [["a", "b"], "pca", -1, "mean", 2, "", 1]),
    "layer 7 of similarity": ("similarity", ["hello", "", 7]),
    "a word that is not there": ("word_in_context", ["the bank", "the river", "bank"]),
    "51 sentences": ("sentence_similarity", [["a"] * 51]),
    "one class": ("train_head", [[["a", "x"], ["b", "x"]]]),
    "one example of a class": ("train_head", [[["a", "x"], ["b", "x"], ["c", "y"]]]),
    "no label": ("train_head", [[["a"], ["b"]]]),
    "epochs below nought": ("train_head", [EXAMPLES, -1, "cls", -1]),
    "learning rate not a number": ("train_head", [EXAMPLES, -1, "cls", 1, "fast"]),
    "unknown head": ("classify", [["hello"], "../head"]),
}


@pytest.mark.parametrize(("endpoint", "arguments"), REFUSED.values(), ids=REFUSED)
def test_arguments_that_make_no_sense_are_refused(ask, endpoint, arguments):
    assert_one_sentence(lambda: ask(endpoint, *arguments))


def test_the_server_goes_on_after_refusals(ask):
    assert ask("tokens", "still here")["tokens"][1] == "still"


def test_two_clients_cannot_guess_each_others_heads(ask):
    ids = {ask("train_head", EXAMPLES, epochs=1)["head"] for _ in range(3)}
    assert len(ids) == 3
    assert all(len(identifier) >= 20 for identifier in ids)


def assert_one_sentence(call):
    with pytest.raises(AppError) as caught:
        call()
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 250
    assert not re.search(r"Traceback|Error\b|object at 0x", sentence)
    json.dumps(sentence)


def test_the_library_and_the_api_name_one_default(ask):
    assert ask("models")["default"] == explorer.load().name
