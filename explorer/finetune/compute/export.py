"""A run as a zip: safetensors, JSON, a log, and a Python script that runs without this app."""

import csv
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors.numpy import save as save_tensors

from explorer.bert import checkpoints
from explorer.bert.explorer import load
from explorer.core import disk
from explorer.core.errors import InputError
from explorer.core.paths import ASSETS
from explorer.finetune.compute import store
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.store import head_arrays

MODEL_FILES = ("config.json", "model.safetensors", *checkpoints.TOKENIZER_FILES)
SCRIPT = ASSETS / "predict.py"  # goes into the zip, and runs without this app
FILES = {"settings.json", "head.safetensors", "log.csv", SCRIPT.name, *(f"model/{name}" for name in MODEL_FILES)}
INSIDE = "model"  # the name, in a zip, of a model known only here: its real name would give access to it
NUMBER = 4  # bytes of a float32 in a checkpoint
_writing = threading.Lock()


def tuned_model(run: Run) -> str:
    """The name of a run's tuned model; its checkpoint is written if there is none yet.

    Raises InputError when no layer was trained.
    """
    if run.predictor.top is None:
        if run.predictor.model == store.tuned_name(run.id):  # it was uploaded in a zip
            return run.predictor.model
        raise InputError("This run trained a head only, so the model is as it was; train some layers too.")
    place = disk.folder() / run.id / "model"
    with _writing:
        if not place.is_dir():
            store.make_room(run.id, NUMBER * load(run.predictor.model).capabilities.parameters)
            base, top = load(run.predictor.model), run.predictor.top
            first = run.predictor.layer - len(top.layers)
            with disk.begin(disk.folder()) as written:
                base.module_with(dict(enumerate(top.layers, start=first)), top.pooler).save_pretrained(written)
                base.tokenizer.save_pretrained(written)
                disk.finish(written, place)
    return store.tuned_name(run.id)


def pack(run: Run) -> Path:
    """Write the zip of a run into its folder. The encoder is included unless it is on the Hub unchanged."""
    predictor, model, base = run.predictor, _model_folder(run), load(run.predictor.model)
    settings = {name: getattr(predictor, name) for name in ("kind", "labels", "layer", "pooling", "model", "layers_trained")}
    settings |= {"max_tokens": base.capabilities.max_tokens, "final_norm": base.family.final_norm}
    settings |= {"title": run.title, "training": run.settings, "best": run.best, "baselines": run.baselines}
    if predictor.model.startswith(checkpoints.TUNED):
        settings["model"] = INSIDE
    if model is not None:
        settings["model_sha256"] = digest(model / "model.safetensors")
    log = io.StringIO()
    csv.writer(log).writerows([run.history[0], *(row.values() for row in run.history)] if run.history else [])
    with _new_zip(run, "run.zip", store.size_of(run) + (disk.size_of(model) if model else 0)) as (archive, _):
        archive.writestr("settings.json", json.dumps(settings, ensure_ascii=False, indent=2))
        archive.writestr("head.safetensors", save_tensors(head_arrays(predictor.head)))
        archive.writestr("log.csv", log.getvalue())
        archive.write(SCRIPT, SCRIPT.name)
        for name in MODEL_FILES:
            if model is not None and (model / name).is_file():
                archive.write(model / name, f"model/{name}")
    return disk.folder() / run.id / "run.zip"


def pack_standard(run: Run, write: Callable[[Predictor, Path], None], name: str) -> Path:
    """Write a zip with a folder `model`, as `write_standard` or `write_onnx` fills it. Raises InputError, see `why_not`."""
    with _new_zip(run, name, 2 * NUMBER * load(run.predictor.model).capabilities.parameters) as (archive, folder):
        (folder / "model").mkdir()
        write(run.predictor, folder / "model")
        for file in sorted((folder / "model").iterdir()):
            archive.write(file, f"model/{file.name}", zipfile.ZIP_STORED)  # weights hardly compress
    return disk.folder() / run.id / name


@contextmanager
def _new_zip(run: Run, name: str, coming: int) -> Iterator[tuple[zipfile.ZipFile, Path]]:
    """A zip of about `coming` bytes, which ends in the folder of the run, and a folder for its parts while it is written."""
    store.make_room(run.id, coming)
    with disk.begin(disk.folder()) as folder:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            yield archive, folder
        disk.finish(folder / name, disk.folder() / run.id / name)


def _model_folder(run: Run) -> Path | None:
    """The folder of the checkpoint to include: the tuned model, or a model that is not on the Hub; otherwise None."""
    if run.predictor.top is not None:
        return checkpoints.find(tuned_model(run)).folder
    found = checkpoints.find(run.predictor.model)
    return None if found.from_hub or not (found.folder / "model.safetensors").is_file() else found.folder


def digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
