"""Large trainings: what is read into a file is what is read into memory, however often the reading was stopped."""

import multiprocessing
import os
import signal

import numpy as np
import pytest
import torch

from explorer.bert import readings
from explorer.bert.features import features_in_steps
from explorer.bert.readings import Reading, folder_for
from explorer.core.errors import InputError
from explorer.core.limits import STATES_MEGABYTES, TEXTS, TRAINING_EXAMPLES, TRAINING_MEGABYTES, Limit
from explorer.core.steps import finished
from explorer.finetune.compute import prefix, store
from explorer.finetune.compute.prefix import hidden_in_steps, hidden_states, text_features
from explorer.finetune.compute.training import train_whole
from explorer.training.examples import Examples
from tests.learning import task_for

PART = 16
PAIRS = [(f"the man was {'very ' * (i % 5)}happy {i}", "she was sad" if i % 7 == 0 else "") for i in range(5 * PART + 3)]
EXAMPLES = Examples(tuple(a for a, _ in PAIRS), tuple("yes" if i % 2 else "no" for i in range(len(PAIRS))))


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Few texts are many, and hardly anything stays in memory."""
    monkeypatch.setenv("BERT_EXPLORER_RUNS", str(tmp_path))
    monkeypatch.setattr(TRAINING_EXAMPLES, "most", 1_000)
    monkeypatch.setattr(prefix, "PART", PART)
    monkeypatch.setattr(prefix, "TEXTS", Limit(PART, "{given}"))
    monkeypatch.setattr(prefix, "TRAINING_MEGABYTES", Limit(0, ""))


def folders():
    return [one for one in (store.folder() / readings.FOLDER).iterdir() if one.is_dir()]


def in_memory(model, layer=1, pooling="mean"):
    return finished(features_in_steps(model, PAIRS, layer, pooling))


@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler", "last4"])
def test_features_in_a_file_are_those_in_memory(tiny, pooling):
    layer = 2 if pooling == "pooler" else 1
    found = finished(text_features(tiny, PAIRS, layer, pooling))
    assert isinstance(found, np.memmap)
    np.testing.assert_allclose(found, in_memory(tiny, layer, pooling), atol=1e-5)


def test_hidden_states_in_a_file_are_those_in_memory(tiny, monkeypatch):
    monkeypatch.setattr(prefix, "PART_TOKENS", 100)  # fewer than a part has
    found, wanted = finished(hidden_states(tiny, PAIRS, 1)), finished(hidden_in_steps(tiny, PAIRS, 1, 512))
    for rows in (torch.arange(len(PAIRS)), torch.tensor([5, 0, 70, 7])):
        (states, real), (others, as_real) = found.batch(rows), wanted.batch(rows)
        assert (real == as_real).all()
        torch.testing.assert_close(states, others, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize(
    "read", [lambda model: text_features(model, PAIRS, 1, "mean"), lambda model: hidden_states(model, PAIRS, 1)]
)
def test_a_reading_that_was_stopped_goes_on_where_it_was(tiny, read, monkeypatch):
    steps = read(tiny)
    while next(steps) < 2 * PART / len(PAIRS):
        pass
    steps.close()
    (folder,) = folders()
    for name, rest in ((readings.ROWS, b"half a vector"), (readings.LENGTHS, b"\7")):  # the process ended while it wrote
        with (folder / name).open("ab") as file:
            file.write(rest)
    seen = []
    count = prefix.features_in_steps, prefix.hidden_in_steps
    monkeypatch.setattr(
        prefix, "features_in_steps", lambda model, pairs, *more, **how: seen.extend(pairs) or count[0](model, pairs, *more, **how)
    )
    monkeypatch.setattr(
        prefix, "hidden_in_steps", lambda model, pairs, *more: seen.extend(pairs) or count[1](model, pairs, *more)
    )
    gone_on = finished(read(tiny))
    assert seen == PAIRS[2 * PART :], "what was read is not read again"
    readings.shutil.rmtree(folder)
    at_once = finished(read(tiny))
    if isinstance(gone_on, np.ndarray):
        np.testing.assert_allclose(gone_on, at_once, atol=1e-6)
    else:
        assert (gone_on.lengths == at_once.lengths).all()
        torch.testing.assert_close(gone_on.flat, at_once.flat, atol=2e-3, rtol=1e-3)


def _die_while_writing(folder):
    def parts():
        yield np.ones((3, 4)), np.array([1, 2])
        yield np.ones((2, 4)), np.array([2])
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in Reading(folder, 4, prefix.SINGLE).append(parts()):
        pass


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_what_a_killed_process_had_read_is_there(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=_die_while_writing, args=(tmp_path,))
    process.start()
    process.join()
    found = Reading(tmp_path, 4, prefix.SINGLE)
    assert found.lengths().tolist() == [1, 2, 2]
    assert list(found.append(iter([(np.full((1, 4), 7), np.array([1]))]))) == [4]
    assert found.rows()[:, 0].tolist() == [1, 1, 1, 1, 1, 7]


def test_the_disk_is_bounded(monkeypatch):
    monkeypatch.setattr(STATES_MEGABYTES, "most", 1)
    for number, name in enumerate(("oldest", "old", "new")):
        with folder_for(name, 400_000) as folder:
            (folder / readings.ROWS).write_bytes(bytes(400_000))
        os.utime(folder, (number, number + 2e9))
    assert {one.name for one in folders()} == {"old", "new"}
    with pytest.raises(InputError, match="2 MB on the disk, and 1 is the most"), folder_for("huge", 2 * 2**20):
        pass


@pytest.mark.parametrize("layers", [0, 1])
def test_a_head_learns_from_files_as_from_memory(tiny, layers, monkeypatch):
    task = task_for(tiny, EXAMPLES, pooling="cls" if layers else "mean", layers_trained=layers, batch_size=32)
    from_file = train_whole(task)
    assert len(folders()) == 1
    monkeypatch.setattr(prefix, "TEXTS", TEXTS)
    monkeypatch.setattr(prefix, "TRAINING_MEGABYTES", TRAINING_MEGABYTES)
    in_memory = train_whole(task)
    for one, other in zip(from_file.history, in_memory.history, strict=True):
        assert one.held_out == pytest.approx(other.held_out, abs=2e-2)
