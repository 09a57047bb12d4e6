import json
import os
import pickle

import numpy as np
import pytest
import transformers

import explorer
from explorer.bert import checkpoints, weights
from explorer.bert.families import family_of
from explorer.core.errors import ModelError
from tests.conftest import become
from tests.families import edit as edit_config


def test_the_package_gives_what_it_names():
    for name in explorer.__all__:
        assert getattr(explorer, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = explorer.nothing_of_ours


def test_no_name_is_the_default(monkeypatch, tiny_folder):
    for name in (None, "", "  \n"):
        assert checkpoints.find(name) == checkpoints.find(checkpoints.BUNDLED)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", f" {tiny_folder} ")
    assert checkpoints.find().folder == tiny_folder.resolve()
    assert checkpoints.find(checkpoints.BUNDLED).folder == checkpoints.BUNDLED_FOLDER


def test_a_folder_can_be_written_in_many_ways(monkeypatch, tiny_folder):
    monkeypatch.chdir(tiny_folder.parent)
    monkeypatch.setenv("HOME", str(tiny_folder.parent))
    for name in (tiny_folder, str(tiny_folder), "bert", "./bert", "../" + tiny_folder.parent.name + "/bert", "~/bert", " bert\n"):
        assert checkpoints.find(name).folder == tiny_folder.resolve()


STRANGE = [
    *("a\x00b", "a\nb", "\ud800", "\u202egoogle", "x" * 301, "x" * 299, "x/" * 140, "🥛", "مرحبا", "a b", "..", "../../etc"),
    *("/etc", "~root", "~nobody-here/x", "<script>alert(1)</script>", "${alert(1)}", "a//b", "a/b/c", "-a", "a--b", "[MASK]"),
    *("http://localhost/bert", "file:///etc/passwd", "con.git", "a/..", 5, 1e9, float("nan"), True, b"bert", ["bert"], object()),
]


@pytest.mark.parametrize("name", STRANGE, ids=lambda name: ascii(name)[:18])
def test_a_strange_name_is_refused_without_asking_anyone(name, refusal, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # to ask would break the test: no_network
    refusal(ModelError, lambda: explorer.load(name), typed=name)


def no(*names):
    return lambda folder: [(folder / name).unlink() for name in names]


def write(name, content):
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def config(**entries):
    return lambda folder: edit_config(folder, **entries)


def truncate(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])


def vocabulary_of_specials(folder):
    no("tokenizer.json")(folder)
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")(folder)


def foreign_weights(folder):
    from safetensors.numpy import save_file

    save_file({"something.else": np.zeros(3)}, folder / "model.safetensors", metadata={"format": "pt"})


def tensors(edit):
    """Changes the tensors of a checkpoint, a dictionary of torch's, in place."""

    def change(folder):
        from safetensors.torch import load_file, save_file

        found = load_file(folder / "model.safetensors")
        edit(found)
        save_file(found, folder / "model.safetensors", metadata={"format": "pt"})

    return change


def weight(edit, name="encoder.layer.0.attention.self.query.weight"):
    return tensors(lambda found: found.update({f"bert.{name}": edit(found[f"bert.{name}"]).contiguous()}))


def one(number):
    def put(table):
        table[3, 3] = number
        return table

    return weight(put, "embeddings.word_embeddings.weight")


def pickled(change):
    """The same change to a checkpoint in the older format, whose header cannot be read."""

    def both(folder):
        become("pickled", folder)
        change(folder)

    return both


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


def bomb(folder):
    no("model.safetensors")(folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(), protocol=2))


BROKEN = {
    "no config": no("config.json"),
    "no weights": no("model.safetensors"),
    "no tokenizer": no("tokenizer.json"),
    "config is no JSON": write("config.json", "{'model_type': bert"),
    "config is a list": write("config.json", "[]"),
    "config is too deep": write("config.json", "[" * 100_000),
    "config without a type": write("config.json", "{}"),
    "a type with line breaks": config(model_type="bert\nLine: " + "x" * 500),
    "sizes that do not fit": config(hidden_size=32),
    "more layers than weights": config(num_hidden_layers=3),
    "heads that do not divide": config(num_attention_heads=3),
    "sizes that are words": config(hidden_size="sixteen"),
    "fewer layers than weights": config(num_hidden_layers=1),
    "no layers at all": config(num_hidden_layers=0),
    "a hundred thousand layers": config(num_hidden_layers=100_000),
    "a hundred thousand layers in a pickle": pickled(config(num_hidden_layers=100_000)),
    "sixty layers in a pickle of two": pickled(config(num_hidden_layers=60, intermediate_size=4096)),
    "wide layers over narrow ones": config(intermediate_size=30_000),
    "more positions than weights": config(max_position_embeddings=4000),
    "a vocabulary of billions": config(vocab_size=10**10),
    "layers with a fraction": config(num_hidden_layers=2.0),
    "ten million labels": config(num_labels=10**7),
    "a dropout of everything": config(hidden_dropout_prob=1.0),
    "a norm of nothing": config(layer_norm_eps=-1.0),
    "a norm that is no number": config(layer_norm_eps=float("nan")),
    "a weight that is no number": one(float("nan")),
    "a weight whose products are infinite": one(1e38),
    "a weight without rows": weight(lambda matrix: matrix.flatten()),
    "weights of whole numbers": weight(lambda matrix: matrix.char()),
    "a layer without a feed-forward": tensors(lambda found: found.pop("bert.encoder.layer.1.intermediate.dense.weight")),
    "a tokenizer that cannot compare": lambda folder: edit_config(folder, "tokenizer_config.json", model_max_length="long"),
    "an id beyond the table": lambda folder: write(
        "tokenizer.json", (folder / "tokenizer.json").read_text().replace('"the": ', '"the": 9000')
    )(folder),
    "a decoder": config(is_decoder=True),
    "relative positions": config(position_embedding_type="relative_key"),
    "truncated safetensors": truncate,
    "safetensors that are none": write("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid"),
    "weights of something else": foreign_weights,
    "a pickle that runs code": bomb,
    "an index without its shards": lambda folder: (
        no("model.safetensors")(folder),
        write("model.safetensors.index.json", '{"weight_map": {"a": "model-1-of-2.safetensors"}}')(folder),
    ),
    "tokenizer is no JSON": write("tokenizer.json", "{"),
    "vocabulary of specials": vocabulary_of_specials,
    "vocabulary of another model": lambda folder: (
        no("tokenizer.json", "tokenizer_config.json")(folder),
        write("vocab.txt", "".join(f"{i}\n" for i in range(999)))(folder),
    ),
}
SAID = {"sizes that do not fit": " × 16 numbers, not ", "heads that do not divide": "not a multiple"}


@pytest.mark.parametrize("breakage", BROKEN)
def test_a_broken_folder_is_refused_and_the_model_in_use_stays(breakage, make_tiny, tiny, refusal, monkeypatch):
    folder = make_tiny()
    monkeypatch.chdir(folder.parent)
    BROKEN[breakage](folder)
    in_use = explorer.load(tiny.name)
    trace = tiny.trace("the man")
    said = refusal(ModelError, lambda: explorer.load(str(folder)), typed=folder)
    assert str(folder) in said
    assert SAID.get(breakage, "") in said
    assert not (folder.parent / "exploded").exists()
    assert explorer.load(tiny.name) is in_use
    assert tiny.trace("the man").reading is trace.reading


def test_a_shard_that_is_not_there_is_named(make_tiny, refusal):
    folder = make_tiny()
    no("model.safetensors")(folder)
    shards = {"weight_map": {"one": "model-00001-of-00002.safetensors", "two": "model-00002-of-00002.safetensors"}}
    write("model.safetensors.index.json", json.dumps(shards))(folder)
    write("model-00001-of-00002.safetensors", "")(folder)
    assert "lacks model-00002-of-00002.safetensors." in refusal(ModelError, lambda: explorer.load(folder), typed=folder)


@pytest.mark.parametrize(
    "breakage", ["a hundred thousand layers", "wide layers over narrow ones", "fewer layers than weights", "ten million labels"]
)
def test_what_does_not_fit_is_refused_before_it_is_built_and_while_another_model_is_opened(
    breakage, make_tiny, refusal, monkeypatch
):
    folder = make_tiny()
    BROKEN[breakage](folder)
    monkeypatch.setattr("transformers.BertForPreTraining.from_pretrained", lambda *_, **__: pytest.fail("built"))
    with weights._one_at_a_time:
        assert "Other models" not in refusal(ModelError, lambda: explorer.load(folder), typed=folder)


def test_nobody_waits_for_ever_for_models_that_others_open(make_tiny, refusal, monkeypatch):
    folder = make_tiny()
    monkeypatch.setattr(weights, "PATIENCE", 0.01)
    with weights._one_at_a_time:
        assert "minute" in refusal(ModelError, lambda: explorer.load(folder), typed=folder)
    assert explorer.load(folder).capabilities.layers == 2


STEERING = {
    "transformers_weights": "other.safetensors",
    "quantization_config": {"quant_method": "bitsandbytes"},
    "fusion_config": {"a": 1},
    **{"return_dict": False, "output_hidden_states": True, "chunk_size_feed_forward": 3},
    "_attn_implementation": "flash_attention_2",
}


def test_a_configuration_cannot_turn_the_model_into_another(make_tiny, tiny):
    folder = make_tiny()
    config(**STEERING)(folder)
    found = explorer.load(folder)
    np.testing.assert_array_equal(found.trace("the man").hidden_states, tiny.trace("the man").hidden_states)
    assert np.isfinite(found.own_masked_lm(found.encode("the man")).numpy()).all()


def test_the_log_holds_why_a_library_failed_and_not_what_was_typed(make_tiny, refusal, caplog):
    folder = make_tiny()
    BROKEN["truncated safetensors"](folder)
    refusal(ModelError, lambda: explorer.load(str(folder)), typed=folder)
    (record,) = [record for record in caplog.records if record.name == "explorer"]
    assert record.exc_info[1] is not None
    assert str(folder) not in record.getMessage()


def test_code_that_comes_with_a_model_is_never_run(make_tiny, monkeypatch):
    folder = make_tiny()
    monkeypatch.chdir(folder)
    own = {"AutoModel": "own.Model", "AutoModelForPreTraining": "own.Model", "AutoConfig": "own.Config"}
    config(auto_map=own)(folder)
    edit_config(folder, "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.Tokenizer", "own.Tokenizer"]})
    write("own.py", "open('exploded', 'w')")(folder)
    assert explorer.load(folder).trace("the man").tokens == ("[CLS]", "the", "man", "[SEP]")
    assert not (folder / "exploded").exists()


def test_a_vocabulary_in_vocab_txt_will_do(make_tiny):
    folder = make_tiny()
    before = explorer.load(folder).trace("The man walked")
    pieces = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    no("tokenizer.json", "tokenizer_config.json")(folder)
    write("vocab.txt", "\n".join(sorted(pieces, key=pieces.get)))(folder)
    assert explorer.load(folder).trace("The man walked").ids == before.ids


def test_shards_are_read_together_and_checked(make_tiny, tiny, refusal):
    folder = make_tiny()
    model = transformers.BertForPreTraining.from_pretrained(folder)
    no("model.safetensors")(folder)
    model.save_pretrained(folder, max_shard_size="20KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    found = explorer.load(folder)
    np.testing.assert_allclose(found.trace("the man").hidden_states, tiny.trace("the man").hidden_states, atol=1e-5)
    BROKEN["fewer layers than weights"](folder)
    refusal(ModelError, lambda: explorer.load(folder), typed=folder)


@pytest.mark.parametrize("model_type", [5, [], {}, "BERT", "gpt2", "\ud800"], ids=ascii)
def test_only_families_we_know_are_read(model_type, refusal):
    assert family_of("bert", None, "name").pretraining_class == "BertForPreTraining"
    assert "BERT" in refusal(ModelError, lambda: family_of(model_type, [model_type], "name"))
