"""The zip of a run: it runs without this app, comes back as it was, and a zip of another kind is refused."""

import copy
import io
import json
import shutil
import zipfile

import numpy as np
import pytest
import torch

import explorer
from explorer.bert import checkpoints
from explorer.bert.features import _caches
from explorer.core.errors import ExplorerError, InputError
from explorer.core.steps import finished
from explorer.finetune.compute import export, store
from explorer.finetune.compute.reasons import compare, decide
from explorer.finetune.compute.task import make_plan
from explorer.finetune.compute.tasks import text_task
from explorer.finetune.compute.training import new_run, run_training
from explorer.finetune.compute.unpack import unpack
from explorer.training.examples import Examples
from tests.families import write_family

TEXTS = [(f"{word * (1 + i % 3)}{i}", label) for i in range(20) for word, label in [("happy ", "yes"), ("sad ", "no")]]
SINGLE = Examples(*zip(*TEXTS, strict=True))
PAIRS = Examples(SINGLE.texts, SINGLE.labels, tuple(f"she was {i}" for i in range(len(SINGLE))))
PROBES = [("happy happy 3", "she was 5"), ("the man bought milk", "slow dog"), ("sad 7", "he")]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """A store of its own, and no features from before."""
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path / "runs"))
    _caches.clear()


@pytest.fixture
def trained(tiny_folder):
    def trained(examples=SINGLE, **settings):
        model = explorer.load(tiny_folder)
        plan = make_plan(model, **{"layer": -1, "pooling": "mean", "epochs": 2, "batch_size": 8, **settings})
        return new_run(finished(run_training(text_task(model, examples, plan))), "Test")

    return trained


def predict(elsewhere, folder, texts):
    """What the zip's own Python file says, run by a Python that cannot import this app."""
    done = elsewhere.run(folder / "predict.py", *texts)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("examples", "settings"),
    [
        (SINGLE, {}),
        (PAIRS, {"layers_trained": 1, "pooling": "pooler", "units": 8}),
        (SINGLE, {"layer": 1, "layers_trained": 1, "pooling": "cls"}),
        (PAIRS, {"pooling": "last4"}),
    ],
    ids=["head", "pairs, pooler and hidden layer", "a layer below the last", "four states side by side"],
)
def test_the_zip_runs_without_the_app_and_comes_back(trained, elsewhere, tmp_path, examples, settings):
    run = trained(examples, **settings)
    model = explorer.load(run.predictor.model)
    pairs = [(a, b if examples.texts_b else "") for a, b in PROBES]
    wanted = run.predictor.classify(model, pairs)
    packed = export.pack(run)
    with zipfile.ZipFile(packed) as archive:
        assert set(archive.namelist()) <= export.FILES
        archive.extractall(tmp_path / "home")
    shutil.copy(packed, tmp_path / "mine.zip")
    for answer, shares in zip(
        predict(elsewhere, tmp_path / "home", [f"{a} ||| {b}" if b else a for a, b in pairs]), wanted, strict=True
    ):
        assert answer["label"] == run.predictor.labels[shares.argmax()]
        found = [answer["probabilities"][label] for label in run.predictor.labels]
        np.testing.assert_allclose(found, shares, atol=1e-4)

    back = unpack(tmp_path / "mine.zip")
    assert back.id != run.id
    assert back.history == run.history
    again = store.fetch(back.id).predictor
    np.testing.assert_allclose(again.classify(explorer.load(again.model), pairs), wanted, atol=1e-5)
    assert again.model.startswith(checkpoints.TUNED) == bool(run.predictor.layers_trained)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("modernbert", {"layers_trained": 1}),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                ("roberta", {"layers_trained": 1}),
                ("distilbert", {"layer": 1}),
                ("albert", {"pooling": "pooler"}),
                ("modernbert", {"pooling": "last4"}),
            )
        ),
    ],
)
def test_the_zip_of_another_family_runs_too(name, settings, elsewhere, tmp_path):
    model = explorer.load(write_family(tmp_path / name, name))
    plan = make_plan(model, **{"layer": -1, "pooling": "mean", "epochs": 2, "batch_size": 8, **settings})
    run = new_run(finished(run_training(text_task(model, SINGLE, plan))), "Test")
    texts = [a for a, _ in PROBES]
    wanted = run.predictor.classify(explorer.load(run.predictor.model), [(text, "") for text in texts])
    packed = export.pack(run)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "home")
    for answer, shares in zip(predict(elsewhere, tmp_path / "home", texts), wanted, strict=True):
        found = [answer["probabilities"][label] for label in run.predictor.labels]
        np.testing.assert_allclose(found, shares, atol=1e-4)
    shutil.copy(packed, tmp_path / "mine.zip")
    again = store.fetch(unpack(tmp_path / "mine.zip").id).predictor
    np.testing.assert_allclose(again.classify(explorer.load(again.model), [(text, "") for text in texts]), wanted, atol=1e-5)


def test_a_run_loads_where_its_model_is_not(trained, tmp_path):
    run = trained()
    wanted = run.predictor.classify(explorer.load(run.predictor.model), PROBES)
    shutil.copy(export.pack(run), tmp_path / "mine.zip")
    change(tmp_path / "mine.zip", "settings.json", lambda data: data.replace(b"/bert", b"/gone"))
    back = unpack(tmp_path / "mine.zip")
    assert back.predictor.model == store.tuned_name(back.id)
    np.testing.assert_allclose(back.predictor.classify(explorer.load(back.predictor.model), PROBES), wanted, atol=1e-5)


def change(path, name, edit):
    """Rewrite one file of a zip, or add it."""
    with zipfile.ZipFile(path) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    files[name] = edit(files.get(name, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.items():
            archive.writestr(entry, data)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"text,label\na,b\n"])
def test_what_is_no_zip_of_ours_is_refused(tmp_path, data, refusal):
    (tmp_path / "mine.zip").write_bytes(data)
    refusal(InputError, lambda: unpack(tmp_path / "mine.zip"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("holiday.jpg", b"x")
    (tmp_path / "mine.zip").write_bytes(buffer.getvalue())
    refusal(InputError, lambda: unpack(tmp_path / "mine.zip"))


def test_the_tuned_model_opens_by_its_name_and_is_what_was_trained(trained, refusal):
    run = trained(layers_trained=1)
    base = explorer.load(run.predictor.model)
    tuned = explorer.load(export.tuned_model(run))
    assert tuned.capabilities.fill_mask
    states = tuned.trace("happy man").hidden_states
    np.testing.assert_array_equal(states[1], base.trace("happy man").hidden_states[1])
    assert np.abs(states[2] - base.trace("happy man").hidden_states[2]).max() > 1e-4
    head_alone = run.predictor.head.probabilities(states[2].mean(0, keepdims=True))
    np.testing.assert_allclose(head_alone, run.predictor.classify(base, [("happy man", "")]), atol=1e-5)

    change = compare(base, tuned, [("happy man", ""), ("sad dog", "he was")])
    assert change.drift.shape == (3,)
    assert change.drift[:2].max() < 1e-6 < change.drift[2]
    assert change.attention.shape == (2, 2)
    assert np.abs(change.attention[0]).max() < 1e-6
    refusal(InputError, lambda: export.tuned_model(trained()))
    for wrong in ("tuned-", "tuned-../..", "tuned-" + "x" * 22):
        with pytest.raises(ExplorerError):
            checkpoints.find(wrong)


def test_hiding_a_word_tells_what_it_did(trained):
    classifier = trained(PAIRS, epochs=20).predictor
    model = explorer.load(classifier.model)
    found = decide(classifier, model, ("happy happy 3", "she was 5"))
    assert found.words == ("happy", "happy", "3", "she", "was", "5")
    hidden = classifier.classify(model, [("happy happy 3", "she was 5"), ("[MASK] happy 3", "she was 5")])[:, found.best]
    assert found.effects[0] == pytest.approx(hidden[0] - hidden[1], abs=1e-5)
    np.testing.assert_allclose(found.probabilities.sum(), 1, atol=1e-5)
    assert decide(classifier, model, ("?!", "")).words == ()


@pytest.mark.parametrize(
    "settings",
    [{}, {"units": 4, "layer": 1, "layers_trained": 1}, {"pooling": "pooler"}, {"pooling": "last4"}],
    ids=["frozen", "hidden layer, tuned below the top", "pooler", "side by side"],
)
def test_integrated_gradients_are_the_sum_written_out(trained, settings):
    classifier = trained(PAIRS, epochs=10, **settings).predictor
    model = explorer.load(classifier.model)
    pair = ("happy unhappy 3", "she was 5")
    found = decide(classifier, model, pair, "integrated_gradients")
    np.testing.assert_allclose(found.probabilities, classifier.classify(model, [pair])[0], atol=1e-6)
    assert len(found.words) == len(found.effects) == 6

    # The text through a whole model of transformers, whose layers are replaced by the trained ones.
    encoder = copy.deepcopy(model.encoder).float().eval().requires_grad_(False)
    if classifier.top:
        for place, layer in enumerate(classifier.top.layers, start=classifier.layer - len(classifier.top.layers)):
            encoder.encoder.layer[place] = layer
        encoder.pooler = classifier.top.pooler or encoder.pooler
    trace = model.trace(*pair)
    ids = torch.tensor([trace.ids])
    special = torch.tensor([token in ("[CLS]", "[SEP]") for token in trace.tokens])
    table = encoder.embeddings.word_embeddings.weight
    text, blank = table[ids], table[torch.where(special, ids, model.tokenizer.pad_token_id)]
    head = {name: torch.from_numpy(value) for name, value in vars(classifier.head).items() if value is not None}

    def log_odds(words):
        out = encoder(inputs_embeds=words, token_type_ids=torch.tensor([trace.encoding.segments]), output_hidden_states=True)
        hidden = out.hidden_states[classifier.layer]
        side_by_side = torch.cat([state[0].mean(0) for state in out.hidden_states[-4:]])
        vectors = {"cls": hidden[0, 0], "mean": hidden[0].mean(0), "pooler": out.pooler_output[0], "last4": side_by_side}
        vector = vectors[classifier.pooling]
        if "hidden_weight" in head:
            vector = (head["hidden_weight"] @ vector + head["hidden_bias"]).relu()
        share = (head["weight"] @ vector + head["bias"]).softmax(-1)[found.best]
        return (share / (1 - share)).log()

    points, weights = np.polynomial.legendre.leggauss(found.path.steps)
    total = torch.zeros_like(text)
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        words = (blank + point * (text - blank)).float().requires_grad_()
        log_odds(words).backward()
        total += weight * words.grad
    by_token = ((text - blank) * total).sum(-1)[0].numpy()
    by_word = {}
    for token, (side, word) in enumerate(zip(trace.encoding.sequences, trace.encoding.words, strict=True)):
        if side >= 0:
            by_word[side, word] = by_word.get((side, word), 0) + by_token[token]
    np.testing.assert_allclose(found.effects, list(by_word.values()), atol=2e-4)
    assert np.abs(found.effects).max() > 0.05
    change = float(log_odds(text) - log_odds(blank))
    assert found.path.change == pytest.approx(change, abs=1e-3)
    assert found.effects.sum() == pytest.approx(change + found.path.delta, abs=1e-3)
