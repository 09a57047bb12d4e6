"""Training over HTTP: the contract, progress on the way, pairs, and refusals in one sentence."""

import base64
import time

import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import explorer
from tests.topics import TOPICS

EXAMPLES = [[f"{word} day number {i}", label] for i in range(8) for word, label in [("good", "yes"), ("bad", "no")]]
PAIRS = [[text, "it was Monday", label] for text, label in EXAMPLES]


@pytest.fixture(scope="module")
def client(served):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
        yield Client(served, verbose=False)


def test_layers_are_trained_with_progress_on_the_way(client):
    job = client.submit(EXAMPLES * 8, pooling="mean", epochs=3, layers_trained=2, api_name="/train_head")
    seen = []
    while not job.done():
        seen += [unit.desc for unit in job.status().progress_data or []]
        time.sleep(0.02)
    answer = job.result()
    assert set(answer) == {"head", "labels", "history", "held_out_accuracy", "baselines"}
    assert set(answer["history"][0]) == {"epoch", "train_loss", "held_out_loss", "held_out_accuracy"}
    assert len(answer["history"]) == 3
    assert answer["held_out_accuracy"] == answer["history"][-1]["held_out_accuracy"] == 1
    assert any("steps a second" in desc for desc in seen)
    found = client.predict(["good day number 3", "bad day number 3"], answer["head"], api_name="/classify")
    assert found["labels"] == ["yes", "no"]
    np.testing.assert_allclose(np.sum(found["probabilities"], axis=1), 1, atol=1e-5)


def test_few_examples_are_taught_as_long_as_they_ask_for(client):
    topic = TOPICS["around us"]
    examples = [[text, label] for text, label in zip(topic.typed.texts, topic.typed.labels, strict=True)]
    answer = client.predict(examples, pooling="mean", epochs=0, api_name="/train_head")
    assert answer["held_out_accuracy"] == answer["history"][-1]["held_out_accuracy"] > 0.8
    found = client.predict(list(topic.tried.texts), answer["head"], api_name="/classify")
    assert found["labels"] == list(topic.tried.labels)
    assert np.mean(np.max(found["probabilities"], axis=1)) > 0.8
    many = client.predict(EXAMPLES * 8, epochs=0, api_name="/train_head")
    assert len(many["history"]) == 75, "of 128 examples 102 or so are trained on: 4 steps an epoch"


def test_a_score_comes_with_that_of_the_most_frequent_label(client):
    many = [[f"nice day number {number}", "ham"] for number in range(198)]
    answer = client.predict([*many, ["win a prize", "spam"], ["free cash", "spam"]], epochs=1, api_name="/train_head")
    assert set(answer["baselines"]) == {"most frequent", "bag of words"}
    assert answer["baselines"]["most frequent"] == pytest.approx(0.975, abs=0.01), "one spam among forty held out"


def test_a_file_is_read_as_in_python_and_trained_on(client, tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"{label},{text} £5,," for text, label in EXAMPLES]
    path.write_bytes("\n".join(["v1,v2,,", *rows]).encode("cp1252"))
    sent = base64.b64encode(path.read_bytes()).decode()
    answer, found = client.predict(sent, api_name="/read_examples"), explorer.read_examples(path)
    for name in ("rows", "text", "text_b", "label", "kind", "labels", "notes"):
        assert answer[name] == getattr(found, name)
    assert answer["examples"] == [[f"{text} £5", label] for text, label in EXAMPLES]
    assert client.predict(sent, label="v1", kind="classes", text_b="(none)", api_name="/read_examples")["rows"] == len(EXAMPLES)
    assert client.predict(answer["examples"], epochs=1, api_name="/train_head")["labels"] == answer["labels"]
    for wrong in ({"file": "no base64"}, {"file": sent, "kind": "words"}, {"file": sent, "label": "none"}):
        with pytest.raises(AppError, match=r"\.$"):
            client.predict(**wrong, api_name="/read_examples")


def test_pairs_are_taught_and_classified(client):
    answer = client.predict(PAIRS, pooling="mean", api_name="/train_head")
    found = client.predict([["good day number 3", "it was Monday"]], answer["head"], api_name="/classify")
    assert found["labels"] == ["yes"]


def test_every_layer_is_probed(client):
    answer = client.predict(EXAMPLES * 3, seeds=2, api_name="/probe_layers")
    assert set(answer) == {"layers"}
    assert [row["layer"] for row in answer["layers"]] == list(range(7))
    for row in answer["layers"]:
        assert set(row) == {"layer", "accuracy", "deviation", "control_accuracy", "low", "high", "sentences"}
        assert 0 <= row["control_accuracy"] <= 1
    assert answer["layers"][-1]["accuracy"] == 1


@pytest.mark.parametrize(
    ("endpoint", "arguments"),
    [
        ("train_head", {"examples": EXAMPLES, "layers_trained": 7}),
        ("train_head", {"examples": EXAMPLES, "layers_trained": -1}),
        ("train_head", {"examples": EXAMPLES, "layer": 2, "layers_trained": 3}),
        ("train_head", {"examples": EXAMPLES, "layers_trained": "two"}),
        ("train_head", {"examples": EXAMPLES, "pooling": "last4", "layers_trained": 2}),
        ("train_head", {"examples": [[f"text {i}", f"label {i // 2}"] for i in range(2000)]}),
        ("train_head", {"examples": [["same", "a"], ["same", "a"], ["b", "b"], ["c", "b"]]}),
        ("train_head", {"examples": [["x" * 10_000_000, "a"], ["b", "b"]]}),
        ("train_head", {"examples": [["a", "b"]] * 200_000}),
        ("probe_layers", {"examples": EXAMPLES, "seeds": 0}),
        ("probe_layers", {"examples": EXAMPLES, "pooling": "pooler"}),
        ("classify", {"texts": [["a", "b", "c"]], "head": "x"}),
        ("train_tokens", {"examples": EXAMPLES}),
        ("train_tokens", {"examples": [[["a"], ["X", "Y"]], [["b"], ["X"]]]}),
        ("train_tokens", {"examples": [[["a"] * 100_000, ["X"] * 100_000]] * 2}),
        ("tag", {"texts": "a", "head": "x"}),
        ("tag", {"texts": [["a", 1]], "head": "x"}),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(client, endpoint, arguments):
    with pytest.raises(AppError) as caught:
        client.predict(**arguments, api_name=f"/{endpoint}")
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert len(sentence) < 250


def test_a_tagger_is_taught_and_asked(client):
    rows = [[["Ada", "sings", "."], ["B-PER", "O", "O"]], [["The", "dog", "sleeps"], ["O", "O", "O"]]] * 6
    rows = [[[*words, str(number)], [*tags, "O"]] for number, (words, tags) in enumerate(rows)]
    job = client.submit(rows, layer=4, api_name="/train_tokens")
    answer = job.result()
    assert set(answer) == {"head", "tags", "history", "held_out_accuracy", "entity_f1"}
    assert set(answer["history"][0]) == {"epoch", "train_loss", "held_out_loss", "held_out_accuracy"}
    assert (answer["tags"], answer["held_out_accuracy"], answer["entity_f1"]) == (["B-PER", "O"], 1, 1)
    found = client.predict(["Ada doesn't sing.", ["Ada", "doesn't"]], answer["head"], api_name="/tag")
    assert found["words"] == [["Ada", "doesn", "'", "t", "sing", "."], ["Ada", "doesn't"]]
    assert [row[0] for row in found["tags"]] == ["B-PER", "B-PER"]
    assert [len(row) for row in found["probabilities"]] == [6, 2]
