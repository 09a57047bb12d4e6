"""Runs as files: safetensors and JSON, both in the store and in the zip for download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError

from explorer.bert.explorer import load
from explorer.core.engine import safetensors_torch, torch
from explorer.core.errors import InputError
from explorer.finetune.compute.kinds import KINDS
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.prefix import EVERY_TOKEN
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.top_layers import Top
from explorer.training.head import Head

HEAD_TENSORS = ("weight", "bias", "hidden_weight", "hidden_bias")


def write_run(run: Run, folder: Path) -> None:
    """Write run.json and weights.safetensors of a run."""
    tensors = {f"head.{name}": torch.from_numpy(array) for name, array in head_arrays(run.predictor.head).items()}
    if run.predictor.top is not None:
        tensors |= {f"top.{name}": tensor for name, tensor in run.predictor.top.state_dict().items()}
    if run.held_out is not None:
        for name in run.held_out.arrays:
            array = np.ascontiguousarray(getattr(run.held_out, name), dtype=np.float32)
            tensors[f"held_out.{name}"] = torch.from_numpy(array)
    safetensors_torch.save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "weights.safetensors")
    (folder / "run.json").write_text(json.dumps(run.as_json(), ensure_ascii=False), "utf-8")


def head_arrays(head: Head) -> dict[str, np.ndarray]:
    """The arrays of a head by name: two for a linear head, four with a hidden layer."""
    return {name: getattr(head, name) for name in HEAD_TENSORS if getattr(head, name) is not None}


def read_run(folder: Path, identifier: str) -> Run:
    """The run in a folder of the store. Raises InputError for broken files, ModelError when its model cannot be loaded."""
    try:
        about = json.loads((folder / "run.json").read_text("utf-8"))
        tensors = safetensors_torch.load_file(folder / "weights.safetensors")
        head = Head(**{name: tensors[f"head.{name}"].numpy() for name in HEAD_TENSORS if f"head.{name}" in tensors})
        place = {name: about[name] for name in ("model", "layer", "pooling")}
        kind = KINDS[about.get("kind", "classes")]
        predictor = kind.predictor(tuple(about["labels"]), head, **place, top=_top(kind.predictor, about, tensors))
        kept = {name: about[name] for name in ("title", "settings", "history", "best", "baselines", "created")}
        arrays = {name.removeprefix("held_out."): t.numpy() for name, t in tensors.items() if name.startswith("held_out.")}
        held_out = kind.held_out.read(about["held_out"], arrays) if about["held_out"] is not None else None
        return Run(predictor, held_out=held_out, id=identifier, **kept)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise InputError("The files of this run are broken; train it again.") from error


def _top(predictor: type[Predictor], about: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Top | None:
    if not about["layers_trained"]:
        return None

    pooling = EVERY_TOKEN if predictor.every_token else about["pooling"]
    top = Top(load(about["model"]), about["layer"], about["layers_trained"], pooling)
    top.module.load_state_dict({name.removeprefix("top."): t for name, t in tensors.items() if name.startswith("top.")})
    return top.for_use()
