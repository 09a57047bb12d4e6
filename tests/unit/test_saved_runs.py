"""Runs that an earlier version stored or packed, one of each kind in saved_runs/, still open and say what they said then."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.bert.checkpoints import BUNDLED
from explorer.core.errors import InputError
from explorer.finetune.compute import store
from explorer.finetune.compute.unpack import unpack

pytestmark = pytest.mark.usefixtures("own_runs")


SAVED = Path(__file__).parent / "saved_runs"
KINDS = sorted(path.name for path in SAVED.iterdir())


def with_model(source, target, model):
    """Copy a file of JSON, with the tiny model of this session as the run's."""
    target.write_text(json.dumps(json.loads(source.read_text("utf-8")) | {"model": str(model)}), "utf-8")


def says(run):
    return run.predictor.scores(explorer.load(run.predictor.model), run.predictor.samples)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_stored_by_an_earlier_version_opens(kind, tiny_folder, own_runs):
    identifier = store.new_id()
    shutil.copytree(SAVED / kind, own_runs / identifier)
    with_model(SAVED / kind / "run.json", own_runs / identifier / "run.json", tiny_folder)
    run = store.fetch(identifier)
    assert run.kind == {"few": "classes"}.get(kind, kind)
    np.testing.assert_allclose(says(run), json.loads((SAVED / kind / "sample.json").read_text()), rtol=1e-5, atol=1e-5)
    about = json.loads((SAVED / kind / "run.json").read_text("utf-8"))
    assert json.loads(json.dumps(run.as_json())) == about | {"model": str(tiny_folder)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_zip_of_an_earlier_version_comes_back(kind, tiny_folder, tmp_path):
    """Its head; the trained layers would be in a model of 100 kB, and are left out here."""
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        for file in ("head.safetensors", "log.csv"):
            archive.write(SAVED / kind / "zip" / file, file)
        with_model(SAVED / kind / "zip" / "settings.json", tmp_path / "settings.json", tiny_folder)
        archive.write(tmp_path / "settings.json", "settings.json")
    run = unpack(tmp_path / "mine.zip")
    about = json.loads((SAVED / kind / "run.json").read_text("utf-8"))
    assert (run.title, run.history, run.baselines) == tuple(about[name] for name in ("title", "history", "baselines"))
    assert [run.kind, list(run.predictor.labels)] == [about["kind"], about["labels"]]
    if not about["layers_trained"]:
        np.testing.assert_allclose(says(run), json.loads((SAVED / kind / "sample.json").read_text()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "weights", "opens"), [(BUNDLED, None, False), (BUNDLED, "0" * 64, False), ("", None, True)])
def test_a_run_of_other_weights_is_refused_with_what_to_do(name, weights, opens, tiny_folder, own_runs, refusal):
    """A head reads one encoder only, and the bundled model has had editions."""
    identifier = store.new_id()
    shutil.copytree(SAVED / "classes", own_runs / identifier)
    written = own_runs / identifier / "run.json"
    about = json.loads((SAVED / "classes" / "run.json").read_text("utf-8")) | {"model": name or str(tiny_folder)}
    written.write_text(json.dumps(about | ({"weights": weights} if weights else {})), "utf-8")
    if opens:
        assert store.fetch(identifier).title == about["title"]
    else:
        assert "Train it again" in refusal(InputError, lambda: store.fetch(identifier))
