"""The zip of a run: it runs without this app, comes back as it was, and a zip of another kind is refused."""

import json
import shutil
import zipfile

import numpy as np
import pytest

import explorer
from explorer.bert import checkpoints
from explorer.core.errors import ExplorerError, InputError
from explorer.finetune.compute import export, store
from explorer.finetune.compute.questions import Questions, place
from explorer.finetune.compute.unpack import unpack
from explorer.text.tagged import Sentence, split_words
from explorer.training.examples import Examples, ScoredExamples
from explorer.training.tagging import TaggedExamples
from tests.families import write_family
from tests.learning import learn_run

pytestmark = pytest.mark.usefixtures("own_runs")

ROWS = [(f"{word * (1 + i % 3)}{i}", label) for i in range(20) for word, label in [("happy ", "yes"), ("sad ", "no")]]
SINGLE = Examples(*zip(*ROWS, strict=True))
PAIRS = Examples(SINGLE.texts, SINGLE.labels, tuple(f"she was {i}" for i in range(len(SINGLE))))
RATED = ScoredExamples(**vars(PAIRS), numbers=tuple(i % 7 / 2 for i in range(len(PAIRS))))
TAGGED = TaggedExamples(
    tuple(Sentence(("the", word, "runs", str(i)), ("O", "B-X", "O", "I-X")) for word in ("man", "dog") for i in range(4))
)
MOODS = [("store", "happy"), ("store", "slow"), ("dog", "happy"), ("dog", "slow")]
PLACES = [f"the man went to the {thing} because he was {mood}. she was sad." for thing, mood in MOODS]
ASKED = Questions(
    tuple(place("where did the man go?", text.split(" to ")[1].split(" because")[0], text) for text in PLACES)
    + tuple(place("who bought milk?", "", text) for text in PLACES)
)
PROBES = [("happy happy 3", "she was 5"), ("the man bought milk", "slow dog"), ("sad 7", "he")]
LONG = ("how was she?", " ".join(PLACES * 20))


@pytest.fixture
def trained(tiny_folder):
    return lambda examples=SINGLE, **settings: learn_run(explorer.load(tiny_folder), examples, **settings)


def says(run, pair):
    """What a run says of a text or a pair, in the form of predict.py."""
    predictor, model = run.predictor, explorer.load(run.predictor.model)
    if run.kind == "classes":
        shares = predictor.classify(model, [pair])[0]
        named = dict(zip(predictor.labels, shares.tolist(), strict=True))
        return {"label": predictor.labels[shares.argmax()], "probabilities": named}
    if run.kind == "number":
        return {"number": float(predictor.estimate(model, [pair])[0])}
    if run.kind == "tags":
        (shares,) = predictor.tag(model, [words := split_words(pair[0])])
        return {"words": words, "tags": [predictor.labels[best] for best in shares.argmax(-1)], "probabilities": shares.max(-1)}
    found = predictor.answer(model, *pair)
    named = {name: getattr(found, name) for name in ("start", "end", "score", "no_answer")}
    return {"answer": found.text, **named}


def assert_same(found, wanted, far):
    for name, value in wanted.items():
        approximate = isinstance(value, float | dict | np.ndarray)
        assert found[name] == (pytest.approx(value, abs=far) if approximate else value)


@pytest.mark.parametrize(
    ("family", "examples", "settings"),
    [
        ("tiny", SINGLE, {}),
        ("tiny", PAIRS, {"layers_trained": 1, "pooling": "pooler"}),
        ("tiny", SINGLE, {"layer": 1, "layers_trained": 1, "pooling": "cls"}),
        ("tiny", PAIRS, {"pooling": "last4"}),
        ("tiny", RATED, {"layers_trained": 1}),
        ("tiny", TAGGED, {"layers_trained": 1, "pooling": "mean"}),
        ("bert", ASKED, {}),
        ("modernbert", ASKED, {"layers_trained": 1}),
        ("modernbert", SINGLE, {"layers_trained": 1}),
        *(
            pytest.param(family, SINGLE, settings, marks=pytest.mark.nightly)
            for family, settings in (
                ("roberta", {"layers_trained": 1}),
                ("distilbert", {"layer": 1}),
                ("albert", {"pooling": "pooler"}),
                ("modernbert", {"pooling": "last4"}),
            )
        ),
    ],
)
def test_a_run_is_kept_taken_home_and_brought_back(family, examples, settings, tiny_folder, elsewhere, tmp_path):
    folder = tiny_folder if family == "tiny" else write_family(tmp_path / family, family)
    run = learn_run(explorer.load(folder), examples, **settings)
    pairs = [(a, b if examples in (PAIRS, RATED) else "") for a, b in PROBES]
    pairs = [*ASKED.pairs[:1], LONG] if examples is ASKED else pairs
    wanted = [says(run, pair) for pair in pairs]

    store._read.clear()  # another process knows nothing yet
    kept = store.fetch(run.id)
    assert kept is not run
    assert kept.as_json() == run.as_json()
    assert {path.suffix for path in (store.folder() / run.id).iterdir()} == {".json", ".safetensors"}
    for name in run.held_out.arrays:
        np.testing.assert_allclose(getattr(kept.held_out, name), getattr(run.held_out, name), atol=1e-6)
    for pair, one in zip(pairs, wanted, strict=True):
        assert_same(says(kept, pair), one, 1e-6)

    packed = export.pack(kept)
    with zipfile.ZipFile(packed) as archive:
        assert set(archive.namelist()) <= export.FILES
        archive.extractall(tmp_path / "home")
    done = elsewhere.run(tmp_path / "home" / "predict.py", *(" ||| ".join(filter(None, pair)) for pair in pairs))
    assert (done.returncode, done.stderr[-2000:]) == (0, "")
    for line, one in zip(done.stdout.splitlines(), wanted, strict=True):
        assert_same(json.loads(line), one, 1e-4)

    shutil.copy(packed, tmp_path / "mine.zip")
    back = unpack(tmp_path / "mine.zip")
    assert back.id != run.id
    assert (back.kind, back.history, back.measure) == (run.kind, run.history, run.measure)
    assert family != "tiny" or back.predictor.model.startswith(checkpoints.TUNED) == bool(run.predictor.layers_trained)
    for pair, one in zip(pairs, wanted, strict=True):
        assert_same(says(store.fetch(back.id), pair), one, 1e-4)


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

    refusal(InputError, lambda: export.tuned_model(trained()))
    for wrong in ("tuned-", "tuned-../..", "tuned-" + "x" * 22):
        with pytest.raises(ExplorerError):
            checkpoints.find(wrong)


def test_hiding_a_word_tells_what_it_did(trained):
    classifier = trained(PAIRS, epochs=20).predictor
    model = explorer.load(classifier.model)
    found = classifier.decide(model, ("happy happy 3", "she was 5"))
    assert found.words == ("happy", "happy", "3", "she", "was", "5")
    hidden = classifier.classify(model, [("happy happy 3", "she was 5"), ("[MASK] happy 3", "she was 5")])[:, found.best]
    assert found.effects[0] == pytest.approx(hidden[0] - hidden[1], abs=1e-5)
    np.testing.assert_allclose(found.probabilities.sum(), 1, atol=1e-5)
    assert classifier.decide(model, ("?!", "")).words == ()
