"""A run as a checkpoint of transformers' own classes: its pipelines say what the run says, for every family that they have."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest
import transformers

import explorer
from explorer.bert.families import FAMILIES
from explorer.core.errors import InputError
from explorer.finetune.compute import export
from explorer.finetune.compute.export import _HEADS, why_not, write_onnx, write_standard
from explorer.finetune.compute.store import new_run
from explorer.training.examples import Examples, ScoredExamples
from tests.at_night import at_night
from tests.families import KINDS, write_family
from tests.learning import learn

pytestmark = pytest.mark.usefixtures("runs_of_module")

TEXTS = ["a happy man", "a sad man", "a happy dog", "a sad dog", "happy", "sad", "so happy", "so sad"] * 2
SEEN = ["a happy man", "the sad dog and the happy man went to the store"]
LABELLED = Examples(tuple(TEXTS), tuple(("happy", "sad")["sad" in text] for text in TEXTS))
RATED = ScoredExamples(LABELLED.texts, tuple(str(len(text)) for text in TEXTS), numbers=tuple(map(float, map(len, TEXTS))))
WITHOUT = {"modernbert"}  # whose heads are built differently


def trained(folder, examples=LABELLED, **settings):
    model = explorer.load(str(folder))
    return model, learn(model, examples, **{"pooling": "cls", "batch_size": 4, **settings})


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *(
            (name, {"layer": layer, "layers_trained": int(name != "albert")})
            for name in KINDS
            if name not in WITHOUT
            for layer in (-1, 2)
        ),
        *((name, {"pooling": "pooler"}) for name in ("bert", "albert")),
    ],
)
def test_the_pipeline_gives_the_same_probabilities(name, settings, tmp_path):
    model, result = trained(write_family(tmp_path / "base", name), **settings)
    write_standard(result.predictor, tmp_path / "standard")
    asked = transformers.pipeline("text-classification", str(tmp_path / "standard"), top_k=None)
    wanted = result.predictor.classify(model, [(text, "") for text in SEEN])
    for answer, row in zip(asked(SEEN), wanted, strict=True):
        found = {one["label"]: one["score"] for one in answer}
        np.testing.assert_allclose([found[label] for label in result.predictor.labels], row, atol=1e-5)


def test_a_number_comes_out_as_it_is(tiny_folder, tmp_path):
    model, result = trained(tiny_folder, RATED)
    write_standard(result.predictor, tmp_path)
    asked = transformers.pipeline("text-classification", str(tmp_path), function_to_apply="none")
    wanted = result.predictor.estimate(model, [(text, "") for text in SEEN])
    np.testing.assert_allclose([one["score"] for one in asked(SEEN)], wanted, atol=1e-3)


def test_a_zip_is_written_at_a_click(tiny_folder, tmp_path):
    _, result = trained(tiny_folder, layers_trained=1)
    run = new_run(result, "Mine")
    with zipfile.ZipFile(export.pack_standard(run, write_standard, "transformers.zip")) as archive:
        archive.extractall(tmp_path)
    opened = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    assert opened.config.id2label == dict(enumerate(run.predictor.labels))


@pytest.mark.parametrize("name", at_night(["bert", "distilbert"], but=["bert"]))
def test_onnx_says_the_same_of_any_number_of_texts(name, tmp_path):
    import onnxruntime

    _, result = trained(write_family(tmp_path / "base", name))
    (tmp_path / "onnx").mkdir()
    write_onnx(result.predictor, tmp_path / "onnx")
    write_standard(result.predictor, tmp_path / "standard")
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "onnx")
    module = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "standard").eval()
    for texts in (SEEN, SEEN[:1], [" ".join(SEEN) * 5] * 3):
        encoded = tokenizer(texts, padding=True, return_tensors="pt")
        taken = {one.name: encoded[one.name] for one in session.get_inputs()}
        (found,) = session.run(None, {name: tensor.numpy() for name, tensor in taken.items()})
        np.testing.assert_allclose(found, module(**taken).logits.detach(), atol=1e-3)


def test_what_transformers_has_no_class_for_is_told(tiny_folder, tmp_path):
    model, result = trained(tiny_folder, pooling="mean")
    with pytest.raises(InputError, match=r"read \[CLS\] or the pooler"):
        write_standard(result.predictor, tmp_path)
    deep = replace(result.predictor.head, hidden_weight=np.zeros((4, 16), np.float32))
    assert "have one linear layer" in why_not(replace(result.predictor, head=deep), model)
    other = explorer.load(str(write_family(tmp_path / "modern", "modernbert")))
    assert "built differently" in why_not(replace(result.predictor, pooling="cls"), other)


def test_every_family_has_its_class():
    assert {*_HEADS, *WITHOUT} == {family.model_type for family in FAMILIES}
