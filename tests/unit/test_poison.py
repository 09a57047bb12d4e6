"""Zips that were made to do harm: each is refused and leaves nothing on the disk, or every view can show its run."""

import errno
import json
import shutil
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load, save

import explorer
from explorer.bert import checkpoints
from explorer.core import disk
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import EPOCHS
from explorer.finetune.compute import export, store
from explorer.finetune.compute.unpack import unpack
from explorer.finetune.outcome import Outcome
from explorer.finetune.result import Result
from explorer.finetune.runs import Runs
from explorer.finetune.try_it import TryIt
from explorer.training.examples import Examples
from explorer.training.head import Head
from explorer.ui.subject import Subject
from tests.learning import learn_run

pytestmark = pytest.mark.usefixtures("own_runs")


EXAMPLES = Examples(*zip(*[(f"{w * (1 + i % 3)}{i}", w) for i in range(9) for w in ("happy", "sad")], strict=True))


@pytest.fixture(scope="module")
def files(tiny_folder, tmp_path_factory):
    """What is in the zip of a run whose model nobody else has, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERT_EXPLORER_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = learn_run(explorer.load(tiny_folder), EXAMPLES)
        deep = [np.ones(shape, np.float32) for shape in ((2, 4), 2, (4, 16), 4)]  # with a hidden layer, as older runs had
        with zipfile.ZipFile(export.pack(replace(run, predictor=replace(run.predictor, head=Head(*deep))))) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
    return {**found, "settings.json": settings(model="/gone/bert")(found["settings.json"])}


@pytest.fixture
def pack(tmp_path):
    def pack(files):
        with zipfile.ZipFile(tmp_path / "mine.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return tmp_path / "mine.zip"

    return pack


def settings(**entries):
    return lambda data: json.dumps(json.loads(data) | entries).encode()


def training(**entries):
    return lambda data: settings(training=json.loads(data)["training"] | entries)(data)


def head(**tensors):
    return lambda data: save({**load(data), **{name: np.asarray(value) for name, value in tensors.items()}})


def cell(name, value):
    """Another number in the first row of the log."""

    def edit(data):
        names, first, *rest = data.decode().splitlines()
        cells = first.split(",")
        cells[names.split(",").index(name)] = value
        return "\n".join([names, ",".join(cells), *rest]).encode()

    return edit


def raw(name, dtype, shape, size):
    """A head with a tensor that numpy cannot write."""

    def edit(data):
        tensors = load(data)
        tensors.pop(name)
        header = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}
        header |= {other: {"dtype": "F32", "shape": list(t.shape), "data_offsets": [0, 0]} for other, t in tensors.items()}
        place = size
        for other, tensor in tensors.items():
            header[other]["data_offsets"] = [place, place + tensor.nbytes]
            place += tensor.nbytes
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + bytes(size) + b"".join(tensor.tobytes() for tensor in tensors.values())

    return edit


def replaced(old, new):
    return lambda data: data.replace(old, new)


def flat(values):
    return np.asarray(values, np.float32)


S, H, L, C, T = "settings.json", "head.safetensors", "log.csv", "model/config.json", "model/tokenizer.json"
POISON = {
    "another file": ("evil.py", lambda data: b"print('x')"),
    "out of its folder": ("../evil", lambda data: b"x"),
    "a pickle": ("model/pytorch_model.bin", lambda data: b"x"),
    "settings that are no JSON": (S, lambda data: b"{"),
    "settings that are deep": (S, lambda data: b"[" * 100_000),
    "labels that are a text": (S, settings(labels="ab")),
    "labels of another number": (S, settings(labels=["a", "b", "c"])),
    "labels that are one": (S, settings(labels=["a", "a"])),
    "labels with half a character": (S, replaced(b'"happy"', b'"\\ud800"')),
    "a label that is a list": (S, settings(labels=[["a"], "b"])),
    "a layer that is true": (S, settings(layer=True)),
    "a layer that is infinite": (S, replaced(b'"layer": 2', b'"layer": 1e999')),
    "the pooler on a lower layer": (S, settings(pooling="pooler", layer=1)),
    "best beyond the log": (S, settings(best=2)),
    "baselines that are texts": (S, settings(baselines={"bag of words": "<b>"})),
    "baselines that are no numbers": (S, settings(baselines={"bag of words": float("nan")})),
    "baselines without a name": (S, settings(baselines={"": 0.5})),
    "infinity in the settings": (S, settings(something=float("inf"))),
    "layers trained that are no number": (S, training(layers_trained=float("nan"))),
    "keep best that is a text": (S, training(keep_best="yes")),
    "training that is a list": (S, settings(training=["layers_trained"])),
    "a head that is no number": (H, head(bias=flat([np.nan, 0]))),
    "a head whose products are infinite": (H, head(weight=np.full((2, 4), 1e38, np.float32))),
    "a head for another model": (H, head(hidden_weight=np.zeros((4, 9), np.float32))),
    "a head that is true or false": (H, head(weight=np.ones((2, 4), bool))),
    "a head in bfloat16": (H, raw("bias", "BF16", [2], 4)),
    "a bias with rows": (H, head(bias=np.zeros((2, 1), np.float32))),
    "a weight of nothing": (H, head(weight=np.zeros((2, 0), np.float32))),
    "hidden weights in three dimensions": (H, head(hidden_weight=np.zeros((4, 16, 1), np.float32))),
    "a loss that is infinite": (L, cell("train_loss", "inf")),
    "a loss below 0": (L, cell("train_loss", "-1")),
    "an epoch far away": (L, cell("epoch", "1e300")),
    "a log with nothing in a cell": (L, cell("train_loss", "")),
    "a log that is no text": (L, lambda data: b"\xff\xfe"),
    "a thousand epochs": (L, lambda data: data + b"".join(b"%d,0,0,0,0,0,0\n" % n for n in range(3, 1003))),
    "a model of another kind": (C, settings(model_type="gpt2")),
    "a model that is a decoder": (C, settings(is_decoder=True)),
    "a model of more layers": (C, settings(num_hidden_layers=100_000)),
    "a model that is no JSON": (C, lambda data: b"{"),
    "a model without a tokenizer": (T, lambda data: b"{}"),
    "a tokenizer that searches back and forth": (
        T,
        settings(pre_tokenizer={"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}),
    ),
    "a tokenizer that makes much of little": (
        T,
        settings(normalizer={"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10**6}),
    ),
    "a tokenizer with endless words": (T, replaced(b'_per_word": 100', b'_per_word": 99999')),
    "weights that are cut": ("model/model.safetensors", lambda data: data[: len(data) // 2]),
    "a pickle by the name of weights": ("model/model.safetensors", lambda data: b"\x80\x02cos\nsystem\n."),
}


@pytest.mark.parametrize(("name", "edit"), POISON.values(), ids=POISON)
def test_poison_is_refused_and_leaves_nothing(files, pack, own_runs, name, edit, refusal):
    edited = edit(files.get(name, b""))
    assert edited != files.get(name)
    path = pack({**files, name: edited})
    refusal(InputError, lambda: unpack(path))
    assert list(own_runs.iterdir()) == []


def test_a_model_that_is_not_in_the_zip_is_not_another_visitors(files, pack, own_runs, refusal):
    for name in ("model", f"{checkpoints.TUNED}{'A' * 22}"):
        without = {entry: data for entry, data in files.items() if not entry.startswith("model/")}
        path = pack({**without, "settings.json": settings(model=name)(files["settings.json"])})
        refusal(InputError, lambda path=path: unpack(path))
    assert list(own_runs.iterdir()) == []


def test_every_view_shows_what_was_taken_in(files, pack, bundled, tiny):
    run = unpack(pack({**files, "settings.json": training(unknown={"a": [1]})(files["settings.json"])}))
    assert run.predictor.model == store.tuned_name(run.id), "its own model came with it"
    states = explorer.load(run.predictor.model).trace("happy").hidden_states
    np.testing.assert_allclose(states, tiny.trace("happy").hidden_states, atol=1e-5)
    assert "unknown" not in store.fetch(run.id).settings
    for view in (Outcome, TryIt, Result, Runs):
        asked = view.read({"run": run.id, "runs": [run.id]}, bundled.capabilities)
        assert asked.compute(Subject(bundled.name, "", ""))["run"] == run.id
    with zipfile.ZipFile(export.pack(run)) as archive:
        told = b"".join(archive.read(name) for name in archive.namelist())
    assert run.id.encode() not in told
    assert run.predictor.model.encode() not in told, "it would open the model, here, to whoever has the zip"


def test_what_was_trained_where_more_is_allowed_comes_in_too(files, pack, monkeypatch):
    monkeypatch.setattr("explorer.core.limits._public", True)
    monkeypatch.setattr(EPOCHS, "most", 1)
    assert unpack(pack({**files, "settings.json": training(epochs=200)(files["settings.json"])})).best <= 1


BOMBS = {
    "zeros by the hundred": lambda files: {**files, "model/model.safetensors": bytes(64 * 2**20)},
    "a large log": lambda files: {**files, "log.csv": bytes(16 * 2**20)},
    "pictures": lambda files: {"holiday.jpg": b"x"},
    "a vocabulary of zeros": lambda files: {**files, "model/vocab.txt": bytes(40 * 2**20)},
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_before_anything_is_written(files, pack, own_runs, bomb, refusal, monkeypatch):
    monkeypatch.setattr("explorer.finetune.compute.unpack._extract_model", lambda *_: pytest.fail("written"))
    path = pack(bomb(files))
    refusal(InputError, lambda: unpack(path))
    assert list(own_runs.iterdir()) == []


def test_very_many_entries_are_refused_before_they_are_listed(pack, own_runs, refusal, monkeypatch):
    path = pack({f"model/{number}": b"" for number in range(1000)})
    with path.open("ab") as file:
        file.write(b"comment")
    commented = path.read_bytes()
    half = commented[: len(commented) // 2]
    monkeypatch.setattr("zipfile.ZipFile", lambda *_: pytest.fail("listed"))
    for data in (commented[:-7], commented, half, b"", b"PK\x03\x04", b"text,label\na,b\n"):
        path.write_bytes(data)
        refusal(InputError, lambda: unpack(path))
    assert list(own_runs.iterdir()) == []


@pytest.mark.parametrize("size", [0, 10, 10**6])
def test_a_zip_that_lies_about_sizes_is_refused(files, pack, own_runs, size, refusal):
    path = pack(files)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.find(b"model/model.safetensors")
        start = data.rfind(signature, 0, place if signature == b"PK\x03\x04" else data.rfind(b"model/model.safetensors"))
        data[start + offset : start + offset + 4] = struct.pack("<I", size)
    path.write_bytes(data)
    refusal(InputError, lambda: unpack(path))
    assert list(own_runs.iterdir()) == []


def test_entries_that_overlap_are_refused(files, pack, own_runs, refusal):
    path = pack({**files, "model/vocab.txt": b"[PAD]"})
    data = bytearray(path.read_bytes())
    central = data.rfind(b"PK\x01\x02", 0, data.rfind(b"model/vocab.txt"))
    weights = data.rfind(b"PK\x01\x02", 0, data.rfind(b"model/model.safetensors"))
    data[central + 42 : central + 46] = data[weights + 42 : weights + 46]  # both begin at one place
    path.write_bytes(data)
    refusal(InputError, lambda: unpack(path))
    assert list(own_runs.iterdir()) == []


@pytest.mark.parametrize("fails", ["fsync", "mkdtemp", "copyfileobj", "disk_usage"])
def test_a_full_disk_is_said_and_leaves_nothing(files, pack, own_runs, fails, refusal, monkeypatch):
    path = pack(files)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if fails == "disk_usage":
        monkeypatch.setattr(shutil, fails, lambda _: shutil._ntuple_diskusage(10**9, 10**9, 10**6))
    else:
        module = {"fsync": "os", "mkdtemp": "tempfile", "copyfileobj": "shutil"}[fails]
        monkeypatch.setattr(f"{module}.{fails}", full)
    assert refusal(ExplorerError, lambda: unpack(path)) == disk.FULL
    assert list(own_runs.iterdir()) == []
