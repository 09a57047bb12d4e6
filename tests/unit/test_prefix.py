"""Large trainings read part by part, and readings in files that outlast a stop."""

import multiprocessing
import os
import signal

import numpy as np
import pytest

from explorer.bert import readings
from explorer.bert.features import features_in_steps
from explorer.bert.readings import Reading, folder_for
from explorer.core.errors import InputError
from explorer.core.limits import STATES_MEGABYTES, Limit
from explorer.core.steps import finished
from explorer.finetune.compute import layers, store
from explorer.finetune.compute.layers import text_features

PART = 16
PAIRS = [(f"the man was {'very ' * (i % 5)}happy {i}", "she was sad" if i % 7 == 0 else "") for i in range(5 * PART + 3)]
SINGLE = np.dtype("<f4")

pytestmark = pytest.mark.usefixtures("own_runs")


@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler", "last4"])
def test_features_read_in_parts_are_those_read_together(tiny, pooling, monkeypatch):
    monkeypatch.setattr(layers, "PART", PART)
    monkeypatch.setattr(layers, "TEXTS", Limit(PART, "{given}"))
    layer = 2 if pooling == "pooler" else 1
    wanted = finished(features_in_steps(tiny, PAIRS, layer, pooling))
    steps = text_features(tiny, PAIRS, layer, pooling)
    assert [next(steps) for _ in range(2)] == [0, PART / len(PAIRS)]
    np.testing.assert_allclose(finished(text_features(tiny, PAIRS, layer, pooling)), wanted, atol=1e-5)


def _die_while_writing(folder):
    def parts():
        yield np.ones((3, 4)), np.array([1, 2])
        yield np.ones((2, 4)), np.array([2])
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in Reading(folder, 4, SINGLE).append(parts()):
        pass


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_what_a_killed_process_had_read_is_there(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=_die_while_writing, args=(tmp_path,))
    process.start()
    process.join()
    found = Reading(tmp_path, 4, SINGLE)
    assert found.lengths().tolist() == [1, 2, 2]
    assert list(found.append(iter([(np.full((1, 4), 7), np.array([1]))]))) == [4]
    assert found.rows()[:, 0].tolist() == [1, 1, 1, 1, 1, 7]


def test_the_disk_is_bounded(monkeypatch):
    monkeypatch.setattr(STATES_MEGABYTES, "most", 1)
    for number, name in enumerate(("oldest", "old", "new")):
        with folder_for(name, 400_000) as folder:
            (folder / readings.ROWS).write_bytes(bytes(400_000))
        os.utime(folder, (number, number + 2e9))
    assert {one.name for one in (store.folder() / readings.FOLDER).iterdir() if one.is_dir()} == {"old", "new"}
    with pytest.raises(InputError, match="2 MB on the disk, and 1 is the most"), folder_for("huge", 2 * 2**20):
        pass
