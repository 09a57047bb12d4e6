"""Runs as files: safetensors and JSON, in the store's folders and in the zip that a person takes home."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from explorer.base.errors import InputError
from explorer.training.classifier import Classifier
from explorer.training.finetune import Top
from explorer.training.head import Head
from explorer.training.run import HeldOut, Run

HEAD_TENSORS = ("weight", "bias", "hidden_weight", "hidden_bias")


def write_run(run: Run, folder: Path) -> None:
    """run.json and weights.safetensors of a run."""
    tensors = {f"head.{name}": torch.from_numpy(array) for name, array in head_arrays(run.classifier.head).items()}
    if run.classifier.top is not None:
        tensors |= {f"top.{name}": tensor for name, tensor in run.classifier.top.state_dict().items()}
    if run.held_out is not None:
        for name in ("probabilities", "points"):
            array = np.ascontiguousarray(getattr(run.held_out, name), dtype=np.float32)
            tensors[f"held_out.{name}"] = torch.from_numpy(array)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "weights.safetensors")
    (folder / "run.json").write_text(json.dumps(run.as_json(), ensure_ascii=False), "utf-8")


def head_arrays(head: Head) -> dict[str, np.ndarray]:
    """The arrays of a head by name; a linear head has two, one with a hidden layer four."""
    return {name: getattr(head, name) for name in HEAD_TENSORS if getattr(head, name) is not None}


def read_run(folder: Path, identifier: str) -> Run:
    """The run in a folder of the store. Raises InputError when its files are broken, ModelError without its model."""
    try:
        about = json.loads((folder / "run.json").read_text("utf-8"))
        tensors = load_file(folder / "weights.safetensors")
        head = Head(**{name: tensors[f"head.{name}"].numpy() for name in HEAD_TENSORS if f"head.{name}" in tensors})
        place = {name: about[name] for name in ("model", "layer", "pooling")}
        classifier = Classifier(tuple(about["labels"]), head, **place, top=_top(about, tensors))
        kept = {name: about[name] for name in ("title", "settings", "history", "best", "baselines", "created")}
        return Run(classifier, held_out=_held_out(about["held_out"], tensors), id=identifier, **kept)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise InputError("The files of this run are broken; train it again.") from error


def _top(about: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Top | None:
    if not about["layers_trained"]:
        return None
    from explorer.model.explorer import load

    top = Top(load(about["model"]), about["layer"], about["layers_trained"], about["pooling"])
    top.load_state_dict({name.removeprefix("top."): t for name, t in tensors.items() if name.startswith("top.")})
    return top.eval().requires_grad_(False)


def _held_out(held: dict[str, Any] | None, tensors: dict[str, torch.Tensor]) -> HeldOut | None:
    if held is None:
        return None
    targets = np.array(held["targets"], dtype=np.int64)
    arrays = (tensors[f"held_out.{name}"].numpy() for name in ("probabilities", "points"))
    return HeldOut(tuple(held["texts"]), tuple(held["texts_b"]), targets, *arrays)
