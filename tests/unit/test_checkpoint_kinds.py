"""Checkpoints as people really have them: each is read right, or refused with a sentence that names the reason and what to do."""

import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import explorer
from explorer.bert import checkpoints
from explorer.core.errors import CapabilityError, ModelError
from explorer.tabs import VIEWS
from explorer.ui.subject import Subject
from tests.conftest import VOCABULARY
from tests.families import KINDS, SIZES, edit, write_family
from tests.hub import REPO


def refused(refusal, folder):
    return refusal(ModelError, lambda: explorer.load(str(folder)), typed=folder)


class TestFamilies:
    @pytest.mark.parametrize("name", KINDS)
    def test_a_class_of_transformers_names_the_family_where_no_type_is_written(self, name, tmp_path):
        folder = write_family(tmp_path / "model", name)
        typed = explorer.load(folder)
        written = typed.trace("the man").hidden_states
        edit(folder, drop=("model_type",))
        found = explorer.load(folder)
        assert found.family == typed.family
        np.testing.assert_array_equal(found.trace("the man").hidden_states, written)

    @pytest.mark.parametrize("classes", [None, [], ["MyOwnModel"], [5]], ids=str)
    def test_without_such_a_class_the_entry_to_add_is_named(self, classes, make_tiny, refusal):
        folder = make_tiny()
        edit(folder, drop=("model_type",), architectures=classes)
        assert 'Add that of its family, such as "model_type": "bert"' in refused(refusal, folder)

    def test_pruned_heads_are_named(self, make_tiny, refusal):
        folder = make_tiny()
        edit(folder, pruned_heads={"0": []})
        assert explorer.load(folder).capabilities.heads == 2
        edit(folder, pruned_heads={"1": [0]})
        assert "pruned_heads" in refused(refusal, folder)


@pytest.mark.parametrize(
    ("model", "classes", "named"),
    [
        ("BertForMultipleChoice", None, ["classifier.bias and 1 more of", "BertForMultipleChoice"]),
        ("BertForSequenceClassification", ["MyBertClassifier"], ["classifier.bias", "MyBertClassifier"]),
        ("BertForTokenClassification", ["BertCRFForNER"], ["classifier.bias", "BertCRFForNER"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_head_that_is_not_read_is_named_by_its_weights(model, classes, named, tmp_path, refusal):
    folder = write_family(tmp_path / "model", "bert", model)
    edit(folder, **({"architectures": classes} if classes else {}))
    found = explorer.load(folder)
    said = refusal(CapabilityError, lambda: found.require("own_head"), typed=folder)
    assert all(name in said for name in named)
    assert "not fine-tuned" not in said
    assert refusal(CapabilityError, found.task_head, typed=folder) == said
    assert VIEWS["model/summary"]().compute(Subject.of(found.trace("the man")))["tuned"] == said
    assert "not read" in checkpoints.describe(str(folder))


def only(*names):
    """Files in place of the weights; the configuration and the vocabulary stay."""

    def change(folder):
        (folder / "model.safetensors").unlink()
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(b"x")

    return change


def google(folder):
    only("bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001", "bert_model.ckpt.meta")(folder)
    (folder / "config.json").rename(folder / "bert_config.json")


def adapter(whole):
    def change(folder):
        if not whole:
            only("adapter_model.safetensors")(folder)
            (folder / "config.json").unlink()
        edit(folder, "adapter_config.json", peft_type="LORA", base_model_name_or_path="/home/me/secret/my-bert/")

    return change


SHARDS = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
OTHERS = {
    "adapter": (adapter(whole=False), ["adapter_config.json", "merge_and_unload()"]),
    "adapter beside its model": (adapter(whole=True), ["adapter_config.json", "merge_and_unload()"]),
    "onnx": (only("model.onnx"), ["model.onnx", "Open the checkpoint from which it was made"]),
    "tensorflow": (only("tf_model.h5"), ["tf_model.h5", "transformers 4", "from_tf=True"]),
    "flax": (only("flax_model.msgpack"), ["flax_model.msgpack", "from_flax=True"]),
    "google": (google, ["bert_model.ckpt", "transformers-cli convert"]),
    "shards without their index": (only(*SHARDS), ["Add model.safetensors.index.json"]),
    "older shards without their index": (only("pytorch_model-00001-of-00002.bin"), ["Add pytorch_model.bin.index.json"]),
    "a variant": (only("model.fp16.safetensors"), ["Call it model.safetensors"]),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_the_files_of_another_format_are_named_with_what_converts_them(kind, make_tiny, refusal, hub):
    change, named = OTHERS[kind]
    folder = make_tiny()
    change(folder)
    said = refused(refusal, folder)
    assert all(name in said for name in named), said
    assert "secret" not in said
    hub.repos[REPO] = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    at_the_hub = refusal(ModelError, lambda: explorer.load(REPO))
    assert at_the_hub == said.replace(str(folder), REPO)
    assert not hub.fetched()


@pytest.mark.parametrize(
    "inner", ["checkpoint-500", "0_Transformer", "snapshots/0123abc"], ids=["a training", "sentence-transformers", "a cache"]
)
def test_the_folder_of_the_checkpoint_is_named(inner, make_tiny, tmp_path):
    outer = tmp_path / "outer"
    (outer / inner).parent.mkdir(parents=True)
    (outer / "modules.json").write_text("[]")
    shutil.move(make_tiny(), outer / inner)
    with pytest.raises(ModelError, match=rf"but its folder {inner} does. Name {outer / inner}\.$"):
        explorer.load(outer)


def test_a_sentence_transformers_folder_is_opened_and_its_parts_name_it(make_tiny, refusal):
    folder = make_tiny()
    edit(folder, "modules.json", modules=[])
    edit(folder, "config_sentence_transformers.json", version=5)
    (folder / "1_Pooling").mkdir()
    edit(folder / "1_Pooling", pooling_mode_mean_tokens=True)
    assert explorer.load(folder).trace("the man").kept == 4
    assert "lacks model.safetensors" in refused(refusal, folder / "1_Pooling")


def test_shards_of_the_older_format_are_read(make_tiny, tiny):
    folder = make_tiny()
    tensors = list(load_file(folder / "model.safetensors").items())
    (folder / "model.safetensors").unlink()
    halves = {"pytorch_model-00001-of-00002.bin": dict(tensors[::2]), "pytorch_model-00002-of-00002.bin": dict(tensors[1::2])}
    for file, part in halves.items():
        torch.save(part, folder / file)
    edit(
        folder,
        "pytorch_model.bin.index.json",
        metadata={},
        weight_map={name: file for file, part in halves.items() for name in part},
    )
    np.testing.assert_allclose(
        explorer.load(folder).trace("the man").hidden_states, tiny.trace("the man").hidden_states, atol=1e-5
    )


CAPITALS = [*VOCABULARY, *(f"{word.title()}" for word in VOCABULARY[5:] if word.isalpha()), "##A", "##B"]


def cased(folder, vocabulary, lowercase):
    transformers.BertForPreTraining(transformers.BertConfig(vocab_size=len(vocabulary), **SIZES)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    edit(folder, "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=lowercase)
    return explorer.load(folder)


@pytest.mark.parametrize("lowercase", [True, False], ids=["lower-casing", "cased tokenizer"])
@pytest.mark.parametrize("vocabulary", [VOCABULARY, CAPITALS], ids=["uncased vocabulary", "cased vocabulary"])
def test_a_vocabulary_of_another_case_than_its_tokenizer_is_told_with_its_share(vocabulary, lowercase, tmp_path):
    model = cased(tmp_path, vocabulary, lowercase)
    subject = Subject.of(model.trace("the Man went"))
    said = {name: VIEWS[name]().compute(subject)["casing"] for name in ("tokens/pieces", "model/summary")}
    assert set(said.values()) == {model.casing}
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path, do_lower_case=lowercase)
    ordinary = [piece for piece in vocabulary if piece not in theirs.all_special_tokens]
    typed = {piece: f"a{piece[2:]}" if piece.startswith("##") and len(piece) > 2 else piece for piece in ordinary}
    never = sum(piece not in theirs.tokenize(text) for piece, text in typed.items()) / len(ordinary)
    if lowercase and vocabulary is CAPITALS:
        assert f"{100 * never:.0f}% of its pieces can never occur" in model.casing
        assert never > 0.2
    elif not lowercase and vocabulary is VOCABULARY:
        assert f"“Paris” is read as {' '.join(theirs.tokenize('Paris'))}" in model.casing
    else:
        assert model.casing == ""
