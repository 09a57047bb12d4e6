"""A run as a zip: safetensors, JSON, a log, and a Python script that runs without this app; or as a checkpoint of transformers.

The classes of transformers have a layer between the encoder and the last linear layer, which differs by family. Where a head
reads [CLS] directly, that layer is made an identity: a tanh by numbers so small that it is linear there (off by x³/3 · 1e-8), a
ReLU or GELU by numbers so large that they pass unchanged.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.numpy import save as save_tensors

from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer, load
from explorer.bert.provenance import digest
from explorer.core import disk
from explorer.core.engine import no_grad, torch, transformers
from explorer.core.errors import InputError
from explorer.core.paths import ASSETS
from explorer.finetune.compute import store
from explorer.finetune.compute.predictor import Predictor, Run
from explorer.finetune.compute.store import head_arrays

MODEL_FILES = ("config.json", "model.safetensors", *checkpoints.TOKENIZER_FILES)
SCRIPT = ASSETS / "predict.py"  # goes into the zip, and runs without this app
FILES = {"settings.json", "head.safetensors", "log.csv", SCRIPT.name, *(f"model/{name}" for name in MODEL_FILES)}
INSIDE = "model"  # the name, in a zip, of a model known only here: its real name would give access to it
NUMBER = 4  # bytes of a float32 in a checkpoint
_writing = threading.Lock()
SMALL, LARGE = 1e-4, 64.0  # see above
_DENSE = "classifier.dense", "classifier.out_proj"
_HEADS: dict[str, tuple[str, str, str]] = {  # for texts: the layer before the last, the last one, and the activation between them
    "bert": ("bert.pooler.dense", "classifier", "tanh"),
    "albert": ("albert.pooler", "classifier", "tanh"),
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert"), (*_DENSE, "tanh")),
    "electra": (*_DENSE, "gelu"),
    "distilbert": ("pre_classifier", "classifier", "relu"),
}


def tuned_model(run: Run) -> str:
    """The name of a run's tuned model; its checkpoint is written if there is none yet.

    Raises InputError when no layer was trained.
    """
    if run.predictor.top is None:
        if run.predictor.model == store.tuned_name(run.id):  # it was uploaded in a zip
            return run.predictor.model
        raise InputError("This run trained a head only, so the model has not changed. Train some layers too.")
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
    base = load(run.predictor.model)
    if why := why_not(run.predictor, base):  # before room is made
        raise InputError(why)
    with _new_zip(run, name, 2 * NUMBER * base.capabilities.parameters) as (archive, folder):
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


def why_not(predictor: Predictor, model: Explorer) -> str:
    """A sentence on why transformers has no class for a predictor; '' if it has one."""
    if predictor.head.hidden_weight is not None:
        return "The classes of transformers have one linear layer as a head. Train a linear head for them."
    if predictor.pooling not in predictor.standard_poolings:
        instead = "the first piece of a word" if predictor.kind == "tags" else "[CLS] or the pooler"
        return f"The classes of transformers read {instead}. Choose that under More and train again."
    if model.family.model_type not in _HEADS:
        return f"The head that transformers gives a {model.family.model_type} is built differently. Take the zip with predict.py."
    return ""


def write_standard(predictor: Predictor, folder: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer's files. Raises InputError with the sentence of `why_not`."""
    base = load(predictor.model)
    _module(predictor, base).save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)


def write_onnx(predictor: Predictor, folder: Path) -> None:
    """Write model.onnx, config.json and the tokenizer's files with torch's exporter; batch and length are dynamic.

    Raises InputError with the sentence of `why_not`.
    """
    base = load(predictor.model)
    module = _module(predictor, base)
    texts = ["one", "and another, longer one"]
    encoded = dict(base.tokenizer(texts, padding=True, return_tensors="pt"))
    if getattr(module.config, "type_vocab_size", 0) < 2:
        encoded.pop("token_type_ids", None)
    names = ["start_logits", "end_logits"] if predictor.kind == "spans" else ["logits"]
    free = {name: dict.fromkeys(range(2), torch.export.Dim.AUTO) for name in encoded}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own parts
        torch.onnx.export(
            module,
            (),
            kwargs=encoded,
            f=folder / "model.onnx",
            input_names=list(encoded),
            output_names=names,
            dynamic_shapes=free,
            external_data=False,
            verbose=False,
        )
    module.config.save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)


def _module(predictor: Predictor, base: Explorer) -> transformers.PreTrainedModel:
    """The encoder and the head as a class of transformers."""
    if why := why_not(predictor, base):
        raise InputError(why)
    first = predictor.layer - predictor.layers_trained
    trained = predictor.top.layers if predictor.top is not None else ()
    pooler = predictor.top.pooler if predictor.top is not None else None
    encoder = base.module_with(dict(enumerate(trained, start=first)), pooler).base_model
    config = copy.deepcopy(encoder.config)
    config.num_hidden_layers = predictor.layer
    config.id2label = dict(enumerate(predictor.labels))
    config.label2id = {label: index for index, label in config.id2label.items()}
    if predictor.kind == "number":
        config.problem_type = "regression"
    module = getattr(transformers, predictor.auto_class).from_config(config).eval()
    module.base_model.load_state_dict(encoder.state_dict(), strict=False)
    _write_head(module, predictor, base)
    return module


@no_grad
def _write_head(module: Any, predictor: Predictor, base: Explorer) -> None:
    """Copy the head into the module; where it reads [CLS] of texts, make the layer between it and the encoder an identity."""
    weight, bias = torch.from_numpy(predictor.head.weight), torch.from_numpy(predictor.head.bias)
    before, name, active = _HEADS[base.family.model_type]
    name = {"spans": "qa_outputs", "tags": "classifier"}.get(predictor.kind, name)
    if predictor.pooling == "cls":
        straight, between = active == "tanh", module.get_submodule(before)
        between.weight.copy_(torch.eye(len(between.weight)) * (SMALL if straight else 1.0))
        between.bias.fill_(0.0 if straight else LARGE)
        weight, bias = (weight / SMALL, bias) if straight else (weight, bias - LARGE * weight.sum(1))
    last = module.get_submodule(name)
    last.weight.copy_(weight)
    last.bias.copy_(bias)
