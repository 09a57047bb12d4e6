"""The contract of the public endpoints, over HTTP, against the library and against transformers itself."""

import base64
import re
import time

import numpy as np
import pytest
from gradio_client.exceptions import AppError

import explorer
from explorer.bert.features import features
from explorer.endpoints import ENDPOINTS
from tests.fuzz.promises import check_sentence

A, B = "The man went to the [MASK] store.", "He bought some milk."
EXAMPLES = [[f"{word} day number {i}", label] for i in range(8) for word, label in [("good", "yes"), ("bad", "no")]]
PEOPLE = {"Anna": ("Rome", "red"), "Tom": ("Paris", "black"), "Maria": ("Oslo", "white"), "Ben": ("London", "brown")}
PASSAGES = [f"{name} lives in {town}. The dog of {name} is {colour}." for name, (town, colour) in PEOPLE.items()]
QUESTIONS = [["Where is the town?", text, text.split(".")[0].rpartition(" ")[2]] for text in PASSAGES]
QUESTIONS += [["Who has a cat?", text, ""] for text in PASSAGES]
PASSAGE = "Anna lives in Rome."


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
    assert answer["default"] == explorer.load().name == "bert-l6-h384-uncased"
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
        exact = bundled.trace(A, B).attention(layer - 1)[head - 1]
        assert np.array_equal(np.array(answer["weights"], dtype=np.float32), exact), "in full precision"
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


def submitted(client, endpoint, *arguments, **named):
    """What an endpoint answers in the end, and what it told of its progress."""
    job, seen = client.submit(*arguments, **named, api_name=f"/{endpoint}"), []
    while not job.done():
        seen += [unit.desc for unit in job.status().progress_data or []]
        time.sleep(0.02)
    return job.result(), seen


def test_a_head_is_trained_and_classifies(ask):
    answer = ask("train_head", EXAMPLES, epochs=20)
    assert set(answer) == {"head", "labels", "history", "held_out_accuracy", "baselines"}
    assert answer["labels"] == ["no", "yes"]
    assert [row["epoch"] for row in answer["history"]] == list(range(1, 21))
    assert set(answer["history"][0]) == {"epoch", "train_loss", "held_out_loss", "held_out_accuracy"}
    assert answer["history"][-1]["train_loss"] < answer["history"][0]["train_loss"]
    again = ask("train_head", EXAMPLES, epochs=20)
    assert again["history"] == answer["history"]
    assert again["head"] != answer["head"], "nobody guesses another's"
    assert len(answer["head"]) >= 20
    assert set(answer["baselines"]) == {"most frequent", "bag of words"}
    with pytest.raises(AppError, match="/classify"):
        ask("answer", "Who?", PASSAGE, answer["head"])
    pairs = ask("train_head", [[text, "it was Monday", label] for text, label in EXAMPLES], pooling="mean", epochs=0)
    assert ask("classify", [["good day number 3", "it was Monday"]], pairs["head"])["labels"] == ["yes"]


def test_layers_are_trained_with_progress_on_the_way(client, ask):
    answer, seen = submitted(client, "train_head", EXAMPLES * 8, pooling="mean", epochs=3, layers_trained=2)
    assert len(answer["history"]) == 3
    assert answer["held_out_accuracy"] == answer["history"][-1]["held_out_accuracy"] == 1
    assert any("steps a second" in desc for desc in seen)
    found = ask("classify", ["good day number 3", "bad day number 3"], answer["head"])
    assert found["labels"] == ["yes", "no"]
    np.testing.assert_allclose(np.sum(found["probabilities"], axis=1), 1, atol=1e-5)


def test_a_file_is_read_as_in_python_and_trained_on(ask, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes("\n".join(["v1,v2,,", *(f"{label},{text} £5,," for text, label in EXAMPLES)]).encode("cp1252"))
    sent = base64.b64encode(path.read_bytes()).decode()
    answer, found = ask("read_examples", sent), explorer.read_examples(path)
    for name in ("rows", "text", "text_b", "label", "kind", "labels", "notes"):
        assert answer[name] == getattr(found, name)
    assert answer["examples"] == [[f"{text} £5", label] for text, label in EXAMPLES]
    assert ask("read_examples", sent, label="v1", kind="classes", text_b="(none)")["rows"] == len(EXAMPLES)
    assert ask("train_head", answer["examples"], epochs=1)["labels"] == answer["labels"]
    for wrong in ({"file": "no base64"}, {"file": sent, "kind": "words"}, {"file": sent, "label": "none"}):
        assert_one_sentence(lambda wrong=wrong: ask("read_examples", **wrong))


def test_every_layer_is_probed(ask):
    rows = ask("probe_layers", EXAMPLES * 3, seeds=2)["layers"]
    assert [row["layer"] for row in rows] == list(range(7))
    for row in rows:
        assert set(row) == {"layer", "accuracy", "deviation", "control_accuracy", "low", "high", "sentences"}
        assert 0 <= row["control_accuracy"] <= 1
    assert rows[-1]["accuracy"] == 1


def test_a_tagger_is_taught_and_asked(ask):
    rows = [[["Ada", "sings", "."], ["B-PER", "O", "O"]], [["The", "dog", "sleeps"], ["O", "O", "O"]]] * 6
    rows = [[[*words, str(number)], [*tags, "O"]] for number, (words, tags) in enumerate(rows)]
    answer = ask("train_tokens", rows, layer=4)
    assert set(answer) == {"head", "tags", "history", "held_out_accuracy", "entity_f1"}
    assert set(answer["history"][0]) == {"epoch", "train_loss", "held_out_loss", "held_out_accuracy"}
    assert (answer["tags"], answer["held_out_accuracy"], answer["entity_f1"]) == (["B-PER", "O"], 1, 1)
    found = ask("tag", ["Ada doesn't sing.", ["Ada", "doesn't"]], answer["head"])
    assert found["words"] == [["Ada", "doesn", "'", "t", "sing", "."], ["Ada", "doesn't"]]
    assert [row[0] for row in found["tags"]] == ["B-PER", "B-PER"]
    assert [len(row) for row in found["probabilities"]] == [6, 2]


def test_a_head_for_answers_is_trained_and_asked(client, ask):
    trained, seen = submitted(client, "train_spans", QUESTIONS, epochs=2, layers_trained=1, batch_size=4)
    assert set(trained) == {"head", "history", "exact_match", "f1"}
    columns = {"epoch", "train_loss", "held_out_loss", "held_out_exact_match", "held_out_f1"}
    assert [set(row) for row in trained["history"]] == [columns] * 2
    assert 0 <= trained["history"][-1]["held_out_exact_match"] == trained["exact_match"] <= trained["f1"] <= 1
    assert any("Reading 8 examples" in desc or "Epoch" in desc for desc in seen)
    found = ask("answer", "Where does Anna live?", PASSAGE, trained["head"])
    assert set(found) == {"answer", "start", "end", "score", "no_answer", "read"}
    assert found["read"] == len(PASSAGE)
    assert 1_000 < ask("answer", "Where?", f"{PASSAGE} " * 150, trained["head"])["read"] < 2_900  # of 3,000
    assert PASSAGE[found["start"] : found["end"]] == found["answer"]
    assert 0 <= found["score"] <= 1
    assert 0 <= found["no_answer"] <= 1
    assert (found["answer"] == "") == (found["no_answer"] >= found["score"])
    with pytest.raises(AppError, match="finds answers"):
        ask("classify", [PASSAGE], trained["head"])


REFUSED = [  # with every kind of sentence; `test_hostile` sends each endpoint what nobody means well with
    ("attention", {"text_a": "hello", "layer": 99}),
    ("hidden_states", {"text_a": "hello", "layer": 1.5}),
    *((name, {"text_a": text}) for name in ("tokens", "attention") for text in ("", " \t\n", "word " * 20_000, "\x00\x07\x1b")),
    ("next_sentence", {"text_a": "", "text_b": "B."}),
    *(("tokens", {"text_a": "hello", "model": name}) for name in ("no-such/model", "../../../etc/passwd", "/etc")),
    ("fill_mask", {"text": "hello"}),
    ("fill_mask", {"text": "[MASK]", "top_k": 1_000_000}),
    ("projection", {"texts": ["a", "b"], "method": "magic"}),
    ("projection", {"texts": ["a", "b"], "layer": 2, "pooling": "pooler"}),
    ("word_in_context", {"text_a": "the bank", "text_b": "the river", "word": "bank"}),
    ("sentence_similarity", {"texts": ["a"] * 51}),
    ("train_head", {"examples": [["a", "x"], ["b", "x"], ["c", "y"]]}),
    ("train_head", {"examples": [[f"text {i}", f"label {i // 2}"] for i in range(2000)]}),
    ("train_head", {"examples": [["same", "a"], ["same", "a"], ["b", "b"], ["c", "b"]]}),
    ("train_head", {"examples": [["x" * 900_000, "a"], ["b", "b"]]}),
    ("train_head", {"examples": [["a", "b"]] * 60_000}),
    ("train_head", {"examples": EXAMPLES, "layer": 2, "layers_trained": 3}),
    ("train_head", {"examples": EXAMPLES, "pooling": "last4", "layers_trained": 2}),
    ("probe_layers", {"examples": EXAMPLES, "seeds": 0}),
    ("classify", {"texts": ["hello"], "head": "../head"}),
    ("train_tokens", {"examples": [[["a"] * 40_000, ["X"] * 40_000]] * 2}),
    ("train_spans", {"examples": [["Who?", PASSAGE, "Tom"], *QUESTIONS]}),
    ("train_spans", {"examples": [["Who?", PASSAGE, ""], ["Who?", PASSAGES[0], ""]]}),
    ("answer", {"question": "Who?", "text": PASSAGE, "head": "x"}),
]


@pytest.mark.parametrize(("endpoint", "arguments"), REFUSED, ids=[f"{name} {number}" for number, (name, _) in enumerate(REFUSED)])
def test_arguments_that_make_no_sense_are_refused(ask, endpoint, arguments):
    assert_one_sentence(lambda: ask(endpoint, **arguments))


def assert_one_sentence(call):
    with pytest.raises(AppError) as caught:
        call()
    check_sentence(str(caught.value))
