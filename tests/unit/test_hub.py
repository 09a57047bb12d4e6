import errno
import shutil
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub import constants

import explorer
from explorer.bert import checkpoints
from explorer.bert.hub import NO_REVISION, Place
from explorer.core.errors import ModelError
from explorer.core.steps import Stopped
from tests.hub import REPO, SHA, sha


def cache_by_hand(folder, name, without=()):
    """A snapshot as the hub's client lays it out: refs, blobs, and links to them."""
    storage = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    for part in ("blobs", "refs", f"snapshots/{SHA}"):
        (storage / part).mkdir(parents=True, exist_ok=True)
    (storage / "refs" / "main").write_text(SHA)
    for path in folder.iterdir():
        if path.name not in without:
            blob = storage / "blobs" / sha(path.read_bytes())
            shutil.copy(path, blob)
            (storage / "snapshots" / SHA / path.name).symlink_to(blob)
    return storage


def refuse_hub(refusal, name=REPO):
    """The sentence with which a name that is looked up on the hub is refused."""
    sentence = refusal(ModelError, lambda: explorer.load(name))
    assert name in sentence
    assert constants.HF_HUB_CACHE not in sentence
    return sentence


def test_what_is_cached_is_opened_without_a_request(hub, tiny_folder, tiny):
    cache_by_hand(tiny_folder, REPO)
    hub.down = True
    model = explorer.load(REPO)
    assert hub.asked == []
    assert model.name == REPO
    np.testing.assert_allclose(model.trace("the man").hidden_states, tiny.trace("the man").hidden_states, atol=1e-6)
    assert explorer.load(REPO) is model


def test_a_download_fetches_what_is_needed_and_never_asks_again(hub, tiny_folder):
    big = b"\0" * 200_000
    hub.put(REPO, tiny_folder, README__md=b"# hello", tf_model__h5=big, pytorch_model__bin=big, flax_model__msgpack=big)
    hub.repos[REPO]["onnx/model.safetensors"] = big
    model = explorer.load(REPO)
    assert model.trace("the man").tokens == ("[CLS]", "the", "man", "[SEP]")
    assert hub.fetched() == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert not [path for _, path in hub.asked if "onnx" in path]

    hub.asked.clear()
    hub.down = True
    assert explorer.load(REPO) is model
    assert hub.asked == []


def test_a_revision_can_be_named(hub, tiny_folder, refusal):
    hub.put(REPO, tiny_folder)
    hub.revisions.add("v1")
    model = explorer.load(f"{REPO}@v1")
    assert model.name == f"{REPO}@v1"
    assert {path.split("/resolve/")[1].split("/")[0] for _, path in hub.asked if "/resolve/" in path} <= {"v1", SHA}
    assert ("GET", f"/api/models/{REPO}/revision/v1") in hub.asked
    hub.down = True
    assert explorer.load(f"{REPO}@v1") is model  # of the cache
    hub.down = False
    assert f"no revision v2 of {REPO}." in refusal(ModelError, lambda: explorer.load(f"{REPO}@v2"))


NO_REVISIONS = (
    *("/usr/bin/ls", "/usr/bin/lsx", "/dev/zero", "..", "../main", "a/../b", "v1..v2", "/", "//", "a//b", "main/", ".hidden"),
    *("-x", "~", "~root", "a b", "C:\\x", "\\\\host\\share", "http://host/x", "file:///etc", "mäin", "a@b", "x" * 129, ""),
)


@pytest.mark.parametrize("revision", NO_REVISIONS, ids=ascii)
def test_what_is_no_revision_reads_no_file_and_is_told_alike(revision, hub, tiny_folder, refusal, monkeypatch):
    hub.put(REPO, tiny_folder)
    cache_by_hand(tiny_folder, REPO)
    name = f"{REPO}@{revision}"
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)
    assert refusal(ModelError, lambda: explorer.load(name)) == NO_REVISION
    assert not checkpoints.is_here(name)
    assert checkpoints.describe(name) == ""
    assert hub.asked == []


def test_a_file_that_somebody_wrote_opens_no_folder(hub, tiny_folder, refusal, monkeypatch, tmp_path):
    cache_by_hand(tiny_folder, REPO)
    (tmp_path / "uploaded.txt").write_text(str(tiny_folder))
    monkeypatch.setattr("explorer.core.limits._public", True)
    for place in (tmp_path / "uploaded.txt", Path("../../../uploaded.txt")):
        assert refusal(ModelError, lambda place=place: explorer.load(f"{REPO}@{place}")) == NO_REVISION


@pytest.mark.parametrize("revision", ["main", "v1.0", "refs/pr/1", "feature/some_thing-2", SHA])
def test_what_git_calls_a_revision_is_one(revision):
    assert Place.of(f"{REPO}@{revision}") == Place(REPO, revision)


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_cache_that_lacks_a_file_is_completed(missing, hub, tiny_folder):
    cache_by_hand(tiny_folder, REPO, without=[missing])
    hub.put(REPO, tiny_folder)
    assert explorer.load(REPO).trace("the man").kept == 4
    assert missing in hub.fetched()


def test_older_weights_and_shards_are_fetched_when_there_are_no_others(hub, variant_folders, make_tiny):
    import transformers

    hub.put(REPO, variant_folders["pickled"])
    assert explorer.load(REPO).capabilities.fill_mask
    assert "pytorch_model.bin" in hub.fetched()

    folder = make_tiny()
    model = transformers.BertForPreTraining.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="20KB")
    hub.put("someone/shards", folder)
    assert explorer.load("someone/shards").capabilities.fill_mask
    assert {path.name for path in folder.glob("model-*")} < hub.fetched()


def test_what_is_in_the_cache_is_listed(hub, tiny_folder, monkeypatch):
    assert checkpoints.list_cached() == []
    cache_by_hand(tiny_folder, REPO)
    cache_by_hand(tiny_folder, "someone/half", without=("model.safetensors",))
    assert checkpoints.list_cached() == [REPO]
    assert hub.asked == []
    monkeypatch.setattr("explorer.core.limits._public", True)
    assert checkpoints.list_cached() == []


@pytest.mark.parametrize(
    ("state", "words"), [({}, "no model"), ({"gated": True}, "gated"), ({"down": True}, "cannot be reached")], ids=str
)
def test_why_a_model_cannot_be_fetched_is_told(state, words, hub, tiny_folder, refusal, monkeypatch):
    if state:
        hub.put(REPO, tiny_folder)
    vars(hub).update(state)
    assert words in refuse_hub(refusal)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "cannot be reached" in refuse_hub(refusal)


def test_a_download_can_be_stopped_and_goes_on_later(hub, tiny_folder, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 500)
    hub.put(REPO, tiny_folder)
    told = []

    def stop(share, what):
        told.append(what)
        if "of" in what.split():
            raise Stopped

    hub.pause = 0.1  # as long as a bar waits before it is drawn anew
    with pytest.raises(Stopped):
        explorer.load(REPO, stop)
    assert told[-1].startswith("fetching")
    assert not checkpoints.is_here(REPO)
    hub.pause = 0
    assert explorer.load(REPO).capabilities.fill_mask


def test_a_download_that_breaks_off_is_told_and_goes_on_later(hub, tiny_folder, refusal, monkeypatch):
    hub.put(REPO, tiny_folder)
    hub.broken_files = {"model.safetensors"}
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert "cannot be reached" in refuse_hub(refusal)
    hub.broken_files = set()
    assert explorer.load(REPO).capabilities.fill_mask


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("Data processing error: CAS service error"), "cannot be reached"),
        (TimeoutError("/root/.cache/huggingface"), "cannot be reached"),
        (OSError(errno.ENOSPC, "No space left on device", "/root/.cache/huggingface/x"), "Make room"),
        (PermissionError(errno.EACCES, "Permission denied", "/root/.cache"), "cannot be stored"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_download_that_fails_in_other_ways(error, words, hub, tiny_folder, refusal, monkeypatch):
    def fail(*args, local_files_only=False, **kwargs):
        raise error if not local_files_only else FileNotFoundError

    hub.put(REPO, tiny_folder)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    assert words in refuse_hub(refusal)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model.safetensors": None}, "no weights"),
        ({"config.json": None}, "no config.json"),
        ({"tokenizer.json": None}, "no tokenizer.json or vocab.txt"),
        ({"config.json": b'{"model_type": "gpt2"}'}, "'gpt2'"),
        ({"config.json": b"<html>"}, "config.json"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_repository_that_is_no_use_is_refused_before_its_weights_are_fetched(change, words, hub, tiny_folder, refusal):
    hub.put(REPO, tiny_folder)
    hub.repos[REPO] = {path: content for path, content in (hub.repos[REPO] | change).items() if content is not None}
    assert words in refuse_hub(refusal)
    assert hub.fetched() <= {"config.json"}
