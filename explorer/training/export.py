"""A run as one zip to take home, and back: safetensors, JSON, a log, and a Python file that runs without this app."""

import csv
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from explorer.base.errors import ExplorerError, InputError
from explorer.base.limits import CLASSES, LABEL, MEGABYTE, ZIP_MEGABYTES
from explorer.model import checkpoints
from explorer.model.explorer import load
from explorer.model.features import POOLINGS
from explorer.text import limits
from explorer.training import quota, store
from explorer.training.classifier import Classifier
from explorer.training.files import HEAD_TENSORS, head_arrays
from explorer.training.head import Epoch, Head
from explorer.training.run import Run

MODEL_FILES = ("config.json", "model.safetensors", *checkpoints.TOKENIZER_FILES)
FILES = {"settings.json", "head.safetensors", "log.csv", "predict.py", *(f"model/{name}" for name in MODEL_FILES)}
MOST_SMALL_BYTES = 8 * 2**20  # of everything that is no model
NUMBER = 4  # bytes of a number in a checkpoint
STRANGE = "This zip was not made by BERT Explorer, or it was changed; save a run as a zip and use that."


def tuned_model(run: Run) -> str:
    """The name under which the tuned model of a run can be opened, written as a checkpoint where it is not yet.

    Raises InputError when no layer was trained.
    """
    if run.classifier.top is None:
        if run.classifier.model == store.tuned_name(run.id):  # it came in a zip
            return run.classifier.model
        raise InputError("This run trained a head only, so the model is as it was; train some layers too.")
    place = store.folder() / run.id / "model"
    if not place.is_dir():
        store.make_room(run.id, NUMBER * load(run.classifier.model).capabilities.parameters)
        unfinished = Path(tempfile.mkdtemp(prefix=".writing-", dir=store.folder()))
        _write_model(run.classifier, unfinished)
        unfinished.replace(place)
    return store.tuned_name(run.id)


def _write_model(classifier: Classifier, folder: Path) -> None:
    """The whole model in the format of transformers, the trained layers in the place of its own."""
    base = load(classifier.model)
    top, first = classifier.top, classifier.layer - classifier.layers_trained
    module = base.module_with(dict(enumerate(top.layers, start=first)), top.pooler)
    module.save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)


def pack(run: Run) -> Path:
    """The zip of a run, in its folder. It holds the encoder too, unless that can be had from the hub as it is."""
    classifier = run.classifier
    model = _model_folder(run)
    settings = {name: getattr(classifier, name) for name in ("labels", "layer", "pooling", "model", "layers_trained")}
    settings |= {"title": run.title, "training": run.settings, "best": run.best, "baselines": run.baselines}
    if model is not None:
        settings["model_sha256"] = _digest(model / "model.safetensors")
    place = store.folder() / run.id / "run.zip"
    store.make_room(run.id, quota.expected_bytes(run) + (quota.size_of(model) if model else 0))
    place.touch(mode=0o600)
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("settings.json", json.dumps(settings, ensure_ascii=False, indent=2))
        archive.writestr("head.safetensors", save_tensors(head_arrays(classifier.head)))
        archive.writestr("log.csv", _log(run.history))
        archive.write(Path(__file__).with_name("predict.py"), "predict.py")
        for name in MODEL_FILES if model is not None else ():
            if (model / name).is_file():
                archive.write(model / name, f"model/{name}")
    return place


def _model_folder(run: Run) -> Path | None:
    """The checkpoint to pack: the tuned one, or one that nobody else could find."""
    if run.classifier.top is not None:
        return checkpoints.find(tuned_model(run)).folder
    found = checkpoints.find(run.classifier.model)
    from_hub = found.name != checkpoints.BUNDLED and "snapshots" in found.folder.parts
    return None if from_hub or not (found.folder / "model.safetensors").is_file() else found.folder


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _log(history: list[dict[str, float]]) -> str:
    """The training log as CSV, one row an epoch."""
    text = io.StringIO()
    csv.writer(text).writerows([history[0], *(row.values() for row in history)] if history else [])
    return text.getvalue()


def unpack(path: Path, visitor: str = quota.HOUSE) -> Run:
    """Keep for a visitor the run in a zip that `pack` made, whoever did. Raises InputError when it is anything else.

    Only the files that `pack` writes are read, none is larger than allowed, and nothing in them is ever executed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive.infolist())
            settings = _check_settings(json.loads(archive.read("settings.json")))
            head = _head(load_tensors(archive.read("head.safetensors")), len(settings["labels"]))
            history = _history(archive.read("log.csv").decode("utf-8"), settings["best"])
            identifier = store.new_id()
            model = settings["model"]
            folder = None
            if "model/model.safetensors" in archive.namelist() and not _is_here(settings):
                folder, model = _extract_model(archive), store.tuned_name(identifier)
    except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, SafetensorError) as error:
        raise InputError(STRANGE) from error
    classifier = Classifier(tuple(settings["labels"]), head, model, settings["layer"], settings["pooling"])
    run = Run(classifier, settings["title"], settings["training"], history, settings["best"], None, settings["baselines"])
    return _keep(replace(run, id=identifier), visitor, folder)


def _keep(run: Run, visitor: str, model: Path | None) -> Run:
    """Keep the run with its model, if the two fit together."""
    run = store.keep(run, visitor, model)
    try:
        capabilities = load(run.classifier.model).capabilities
        head = run.classifier.head
        first = head.weight if head.hidden_weight is None else head.hidden_weight
        if first.shape[1] != capabilities.hidden_size or run.classifier.layer > capabilities.layers:
            raise InputError(STRANGE)
    except ExplorerError:
        shutil.rmtree(store.folder() / run.id, ignore_errors=True)
        raise
    return run


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    small = sum(entry.file_size for entry in entries if not entry.filename.startswith("model/"))
    if not set(names) <= FILES or len(set(names)) != len(names):
        raise InputError(STRANGE)
    if small > MOST_SMALL_BYTES:
        raise InputError(STRANGE)
    ZIP_MEGABYTES.check(sum(entry.file_size for entry in entries) / MEGABYTE)


def _check_settings(settings: Any) -> dict[str, Any]:
    """The settings, if every entry is what `pack` would have written."""
    labels = settings["labels"]
    if not isinstance(labels, list) or not 2 <= len(labels) <= CLASSES.most or len(set(labels)) != len(labels):
        raise ValueError("labels")
    for label in labels:
        limits.check_text(label, "the label", LABEL)
    limits.check_integer(settings["layer"], "layer", 0, 1000)
    limits.check_choice(settings["pooling"], "pooling", POOLINGS)
    limits.check_integer(settings["best"], "best", 0, 1000)
    limits.check_text(settings["model"])
    settings["title"] = limits.check_text(settings["title"])[:80]
    for name in ("training", "baselines"):
        rows = settings[name]
        if not isinstance(rows, dict) or not all(isinstance(v, int | float | str | bool) for v in rows.values()):
            raise ValueError(name)
        settings[name] = {str(key)[:60]: value for key, value in list(rows.items())[:40]}
    return settings


def _head(tensors: dict[str, Any], labels: int) -> Head:
    """The head, if its shapes fit together."""
    if not {"weight", "bias"} <= set(tensors) <= set(HEAD_TENSORS) or ("hidden_weight" in tensors) != ("hidden_bias" in tensors):
        raise ValueError("tensors")
    head = Head(**{name: tensor.astype("float32") for name, tensor in tensors.items()})
    units = head.weight.shape[1]
    if head.weight.shape != (labels, units) or head.bias.shape != (labels,):
        raise ValueError("shapes")
    if head.hidden_weight is not None and (head.hidden_weight.shape[:1], head.hidden_bias.shape) != ((units,), (units,)):
        raise ValueError("shapes")
    return head


def _history(log: str, best: int) -> list[dict[str, float]]:
    history = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(io.StringIO(log))][:1000]
    if not history or best >= len(history) or any(set(row) != {field.name for field in fields(Epoch)} for row in history):
        raise ValueError("log")
    return history


def _is_here(settings: dict[str, Any]) -> bool:
    """Whether the model that was packed is the one of that name here."""
    try:
        weights = checkpoints.find(settings["model"]).folder / "model.safetensors"
        return not settings["layers_trained"] and weights.is_file() and _digest(weights) == settings["model_sha256"]
    except ExplorerError:
        return False


def _extract_model(archive: zipfile.ZipFile) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=".writing-", dir=store.folder()))
    for name in MODEL_FILES:
        if f"model/{name}" in archive.namelist():
            with archive.open(f"model/{name}") as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    return folder
