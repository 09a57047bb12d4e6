"""Answers over HTTP: the contract, progress on the way, and refusals in one sentence."""

import time

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

PEOPLE = {"Anna": ("Rome", "red"), "Tom": ("Paris", "black"), "Maria": ("Oslo", "white"), "Ben": ("London", "brown")}
TEXTS = [f"{name} lives in {town}. The dog of {name} is {colour}." for name, (town, colour) in PEOPLE.items()]
EXAMPLES = [["Where is the town?", text, text.split(".")[0].rpartition(" ")[2]] for text in TEXTS]
EXAMPLES += [["Who has a cat?", text, ""] for text in TEXTS]
TEXT = "Anna lives in Rome."


@pytest.fixture(scope="module")
def client(served):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.utils._detect_agent._fetch_registry", lambda: None)
        yield Client(served, verbose=False)


def test_a_head_for_answers_is_trained_and_asked(client):
    job = client.submit(EXAMPLES, epochs=2, layers_trained=1, batch_size=4, api_name="/train_spans")
    seen = []
    while not job.done():
        seen += [unit.desc for unit in job.status().progress_data or []]
        time.sleep(0.02)
    trained = job.result()
    assert set(trained) == {"head", "history", "exact_match", "f1"}
    assert [set(row) for row in trained["history"]] == [
        {"epoch", "train_loss", "held_out_loss", "held_out_exact_match", "held_out_f1"}
    ] * 2
    assert trained["exact_match"] == trained["history"][-1]["held_out_exact_match"]
    assert 0 <= trained["exact_match"] <= trained["f1"] <= 1
    assert any("Reading 8 examples" in desc or "Epoch" in desc for desc in seen)

    found = client.predict("Where does Anna live?", TEXT, trained["head"], api_name="/answer")
    assert set(found) == {"answer", "start", "end", "score", "no_answer"}
    assert TEXT[found["start"] : found["end"]] == found["answer"]
    assert 0 <= found["score"] <= 1
    assert 0 <= found["no_answer"] <= 1
    assert (found["answer"] == "") == (found["no_answer"] >= found["score"])
    with pytest.raises(AppError, match="finds answers"):
        client.predict([TEXT], trained["head"], api_name="/classify")


@pytest.mark.parametrize(
    ("endpoint", "arguments"),
    [
        ("train_spans", {"examples": EXAMPLES, "layers_trained": 7}),
        ("train_spans", {"examples": EXAMPLES, "layers_trained": -2}),
        ("train_spans", {"examples": EXAMPLES, "epochs": 0}),
        ("train_spans", {"examples": [["Who?", TEXT, "Tom"], *EXAMPLES]}),
        ("train_spans", {"examples": [["Who?", TEXT, "Anna"]]}),
        ("train_spans", {"examples": [["Who?", TEXT, ""], ["Who?", TEXTS[0], ""]]}),
        ("train_spans", {"examples": [["Who?", TEXT]]}),
        ("train_spans", {"examples": []}),
        ("train_spans", {"examples": "Who?"}),
        ("answer", {"question": "", "text": TEXT, "head": "x"}),
        ("answer", {"question": "Who?", "text": TEXT, "head": "x"}),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(client, endpoint, arguments):
    with pytest.raises(AppError) as caught:
        client.predict(**arguments, api_name=f"/{endpoint}")
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert len(sentence) < 250


def test_a_head_of_another_kind_is_refused(client):
    rows = [[f"{word} day number {i}", label] for i in range(4) for word, label in [("good", "yes"), ("bad", "no")]]
    head = client.predict(rows, epochs=1, api_name="/train_head")["head"]
    with pytest.raises(AppError, match="/classify"):
        client.predict("Who?", TEXT, head, api_name="/answer")
