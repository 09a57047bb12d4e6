"""Whatever happens at whatever moment: what was kept is whole, and what is not whole is never found."""

import contextlib
import errno
import os
import stat
import time
import zipfile

import pytest
from safetensors import SafetensorError

import explorer
from explorer.core import disk
from explorer.core.errors import ExplorerError, InputError
from explorer.finetune.compute import export, store
from explorer.training.examples import Examples
from tests.learning import learn_run

EXAMPLES = Examples(*zip(*[(f"{w * (1 + i % 3)}{i}", w) for i in range(9) for w in ("happy", "sad")], strict=True))


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """A store of its own, as a process that has just started sees it."""
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path / "runs"))
    restart(monkeypatch)
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def restart(monkeypatch):
    disk._tidy_once.cache_clear()
    monkeypatch.setattr(store, "_read", type(store._read)(4))


@pytest.fixture
def train(tiny_folder):
    def train(layers_trained=0):
        model = explorer.load(tiny_folder)
        return learn_run(model, EXAMPLES, layers_trained=layers_trained, epochs=1)

    return train


def check(runs, promised):
    """What was reported as kept is listed, what is listed is whole, and nothing else is found."""
    names = [path.name for path in runs.iterdir()]
    listed = [about["id"] for about in store.peek(names)]
    assert set(promised) <= set(listed), "a run is lost"
    assert {name for name in names if not name.startswith(disk.UNFINISHED)} == set(listed), "what has a name is not whole"
    for identifier in listed:
        run = store.read_run(runs / identifier, identifier)
        assert run.predictor.classify(explorer.load(run.predictor.model), [("happy", "")]).shape == (1, 2)
        if (runs / identifier / "model").exists():
            assert explorer.load(store.tuned_name(identifier)).trace("happy").kept == 3
        if (runs / identifier / "run.zip").exists():
            with zipfile.ZipFile(runs / identifier / "run.zip") as archive:
                assert archive.testzip() is None
    for name in set(names) - set(listed):
        with pytest.raises(InputError):
            store.fetch(name)


class Killed(BaseException):
    """Nothing catches it, and nothing is cleaned up after it."""


@pytest.mark.parametrize("step", range(12))
def test_dying_at_any_step_of_saving_leaves_the_old_or_the_new(train, runs, step, monkeypatch):
    first = train(layers_trained=1)
    left = step

    def die_at_last(function):
        def run(*arguments, **named):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return function(*arguments, **named)

        return run

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda *_, **__: None)  # a process that is killed tidies nothing up
        for module, name in ((os, "fsync"), (os, "rename"), (os, "replace"), (os, "chmod")):
            patch.setattr(module, name, die_at_last(getattr(module, name)))
        for act in (train, lambda: export.tuned_model(first), lambda: export.pack(first)):
            left = step
            with contextlib.suppress(Killed):
                act()
    check(runs, [first.id])
    assert export.tuned_model(first) == store.tuned_name(first.id)
    assert export.pack(first).is_file()
    check(runs, [first.id])


FULL = (OSError(errno.ENOSPC, "No space left on device"), SafetensorError("I/O error: No space left on device (os error 28)"))


@pytest.mark.parametrize("error", FULL, ids=lambda error: type(error).__name__)
def test_a_full_disk_is_said_by_whatever_saves_and_leaves_nothing(train, runs, error, monkeypatch, refusal):
    def full(*_, **__):
        raise error

    run = train(layers_trained=1)
    before = sorted(runs.rglob("*"))
    with monkeypatch.context() as patch:
        for place in ("safetensors.torch.save_file", "transformers.modeling_utils.safe_save_file", "zipfile.ZipFile.writestr"):
            patch.setattr(place, full)
        for act in (train, lambda: export.tuned_model(run), lambda: export.pack(run)):
            assert refusal(ExplorerError, act) == disk.FULL
    assert sorted(runs.rglob("*")) == before
    assert export.pack(run).is_file()


def test_an_id_that_is_kept_again_does_not_lose_the_run(train, refusal):
    run = train()
    refusal(ExplorerError, lambda: store.keep(run))
    assert store.fetch(run.id) is run


def test_what_is_left_over_is_swept_at_the_start_and_what_is_being_written_is_not(train, runs, monkeypatch):
    run = train()
    old, young = runs / f"{disk.UNFINISHED}old", runs / f"{disk.UNFINISHED}young"
    for path in (old, young):
        path.mkdir()
        (path / "weights.safetensors").write_bytes(b"half")
    os.utime(old, (time.time() - 2 * disk.ABANDONED,) * 2)
    restart(monkeypatch)
    assert store.fetch(run.id).title == "Test"
    assert not old.exists()
    assert young.exists()
    assert store.peek([young.name]) == []


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_runs_models_and_zips_are_for_their_owner_only(train, runs):
    run = train(layers_trained=1)
    export.tuned_model(run)
    export.pack(run)
    found = list(runs.rglob("*"))
    assert {"run.json", "run.zip", "config.json"} <= {path.name for path in found}
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
