"""One visitor can reach nothing of another's: each attack by plain HTTP, as a stranger would send it."""

import json
import os
import stat
import time
from pathlib import Path

import pytest

import explorer
from explorer.bert import checkpoints
from explorer.core import downloads
from explorer.core.errors import ExplorerError, InputError, ModelError
from explorer.finetune.compute import export, store
from explorer.finetune.compute.unpack import unpack
from explorer.training.examples import Examples
from tests.learning import learn_run

TEXTS = [(f"{word} secret number {i}", label) for i in range(8) for word, label in [("good", "yes"), ("bad", "no")]]
EXAMPLES = Examples(*zip(*TEXTS, strict=True))


def trained(folder, **settings):
    """A run as the page keeps it."""
    model = explorer.load(folder)
    return learn_run(model, EXAMPLES, **{"epochs": 1, "layers_trained": 1, **settings})


@pytest.fixture(scope="module")
def hers(tiny_folder):
    """Somebody else's run of a folder that she typed, with its tuned model open."""
    run = trained(tiny_folder)
    explorer.load(export.tuned_model(run))
    return run


def test_the_list_of_models_tells_nothing_of_others(stranger, hers, tiny_folder):
    assert {model.name for model in explorer.bert.explorer.list_loaded()} >= {str(tiny_folder), export.tuned_model(hers)}
    names = [model["name"] for model in stranger.ask("models")["data"][0]["models"]]
    assert names == [checkpoints.BUNDLED]


def test_models_of_the_hub_are_listed(stranger, tiny_folder, monkeypatch):
    monkeypatch.setattr(checkpoints, "_from_cache", lambda name: tiny_folder)
    explorer.load("someone/tiny-bert")
    names = [model["name"] for model in stranger.ask("models")["data"][0]["models"]]
    assert set(names) == {checkpoints.BUNDLED, "someone/tiny-bert"}


def test_the_name_of_a_tuned_model_opens_the_model_and_nothing_else(stranger, hers, refusal):
    name = export.tuned_model(hers)
    assert hers.id not in name
    assert checkpoints.find(name).folder == store.folder() / hers.id / "model"
    assert "weights" in stranger.ask("attention", "a cat", "", 1, 1, name)["data"][0]
    for guess in (name, name.removeprefix(checkpoints.TUNED)):
        refusal(InputError, lambda guess=guess: store.fetch(guess))
        assert "No head has this id" in stranger.ask("classify", ["a cat"], guess)["error"]
    assert hers.predictor.classify(explorer.load(hers.predictor.model), [("a cat", "")]).shape == (1, 2)


def test_a_name_that_carries_the_id_is_refused_without_asking_the_hub(hers, refusal, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # to ask would break the test: no_network
    refusal(ModelError, lambda: checkpoints.find(checkpoints.TUNED + hers.id), typed=checkpoints.TUNED + hers.id)


def test_a_run_that_came_in_a_zip_has_a_name_without_its_id(hers, tmp_path):
    zipped = tmp_path / "mine.zip"
    zipped.write_bytes(export.pack(hers).read_bytes())
    back = unpack(zipped)
    assert back.id not in back.predictor.model
    assert hers.id.encode() not in zipped.read_bytes()
    assert checkpoints.find(back.predictor.model).folder == store.folder() / back.id / "model"
    assert export.tuned_model(back) == back.predictor.model


def test_nothing_that_a_stranger_is_sent_holds_the_id_of_a_run_or_the_name_of_its_model(stranger, hers):
    name, folder = export.tuned_model(hers), hers.predictor.model
    answers = [stranger.get(path)[1] for path in ("/", "/config", "/gradio_api/info", "/gradio_api/startup-events")]
    answers += [json.dumps(stranger.ask("models")).encode()]
    for element in ("fine-tune-runs-save", "fine-tune-preset", "visited"):
        event = {"fine-tune-preset": "input", "visited": "change"}.get(element, "click")
        answers.append(json.dumps(stranger.press(element, event)).encode())
    for answer in answers:
        for secret in (hers.id, name, folder, "secret number"):
            assert secret.encode() not in answer


def test_a_zip_is_fetched_by_an_address_that_nobody_can_guess_and_not_for_long(stranger, hers, monkeypatch):
    packed = export.pack(hers)
    token = downloads.offer(packed)
    assert hers.id not in token
    headers, body = stranger.get(f"/download/{token}")
    assert body == packed.read_bytes()
    assert headers["Content-Disposition"] == 'attachment; filename="run.zip"'
    assert headers["Cache-Control"] == "no-store"
    for wrong in (f"/download/{token[:-1]}", f"/download/{hers.id}", f"/gradio_api/file={packed}", "/download/", "/download/.."):
        assert stranger.status(wrong) in (403, 404)
    now = time.monotonic()
    monkeypatch.setattr(downloads, "monotonic", lambda: now + downloads.VALID + 1)
    assert stranger.status(f"/download/{token}") == 404


def test_what_is_saved_is_offered_and_no_copy_of_it_is_left_behind(stranger):
    there = set(Path(os.environ["GRADIO_TEMP_DIR"]).rglob("*"))  # what others have uploaded to the same server
    answer = stranger.press("fine-tune-runs-save")
    (link,) = [one["link"] for one in answer["data"] if isinstance(one, dict) and one.get("link")]
    assert stranger.get(f"/{link}")[1].startswith(b"PK")
    assert not [path for path in set(Path(os.environ["GRADIO_TEMP_DIR"]).rglob("*")) - there if path.is_file()]


def test_files_of_runs_and_of_visitors_are_closed_to_others_on_the_machine(served, hers):
    packed = export.pack(hers)
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600
    assert stat.S_IMODE(packed.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.environ["GRADIO_TEMP_DIR"]).st_mode) == 0o700


def test_a_wrong_id_says_nothing(stranger, hers):
    answers = {stranger.ask("classify", ["a cat"], guess)["error"] for guess in ("", "x" * 22, hers.id[:-1] + "~")}
    assert len(answers) == 1
    with pytest.raises(ExplorerError):
        store.fetch(hers.id[::-1])
