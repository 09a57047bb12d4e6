"""Checks whether config.json and the weights can belong together, before anything is built from them.

Only the headers of the weights are read, so that a file of a few bytes cannot ask for gigabytes of layers. Nothing here imports
torch.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from explorer.bert.checkpoints import Checkpoint
from explorer.bert.folders import WEIGHT_FILES
from explorer.core.errors import ModelError, logger

MOST_CONFIG_BYTES = 2**20
MOST_LABELS = 10_000
MOST_HEADER_BYTES = 8 * 2**20  # per file: BERT-large has 50 kB
LEAST_BYTES = 2  # per weight in a file of PyTorch, whose header is code: half precision
DTYPES = {"F64", "F32", "F16", "BF16"}


# The largest value of each count in config.json, under the names of all families.
_LAYERS, _WIDTH, _INNER, _PLACES = 64, 8192, 32_768, 65_536
MOST = {
    **dict.fromkeys(("num_hidden_layers", "n_layers", "num_hidden_groups", "inner_group_num"), _LAYERS),
    **dict.fromkeys(("num_attention_heads", "n_heads"), 64),
    **dict.fromkeys(("hidden_size", "dim", "embedding_size"), _WIDTH),
    **dict.fromkeys(("intermediate_size", "hidden_dim"), _INNER),
    **dict.fromkeys(("max_position_embeddings", "local_attention"), _PLACES),
    "vocab_size": 1_000_000,
    "type_vocab_size": 16,
}
WIDTHS, HEADS = ("hidden_size", "dim"), ("num_attention_heads", "n_heads")  # the first one present counts

Shapes = dict[str, tuple[int, ...]]
"""The shapes of weights, by their names in the encoder."""


def read_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """The entries of config.json. Raises ModelError when it cannot be read."""
    try:
        data = (checkpoint.folder / "config.json").read_bytes()
        entries = json.loads(data) if len(data) <= MOST_CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise checkpoint.unreadable("config.json") from error
    # transformers invents a name for each of `num_labels` labels, even where only the tokenizer is read.
    if not isinstance(entries, dict) or (entries.get("num_labels") or 0) not in range(MOST_LABELS + 1):
        raise checkpoint.unreadable("config.json")
    names = entries.get("id2label")
    if names is not None and not (isinstance(names, dict) and all(number.isdecimal() for number in names)):
        raise checkpoint.faulty(f'The id2label in the config.json of {checkpoint.name} must be numbers and names, {{"0": "sad"}}')
    return entries


def check(checkpoint: Checkpoint, entries: dict[str, Any]) -> None:
    """Raise ModelError unless the numbers of a complete configuration are plausible for a model.

    Epsilons of LayerNorm are above 0 and at most 0.1; dropouts are from 0 to 0.9.
    """
    counts = {name: entries[name] for name in MOST if name in entries}
    odd = [name for name, count in counts.items() if not (type(count) is int and 1 <= count <= MOST[name])]
    numbers = {name: value for name, value in entries.items() if isinstance(value, int | float)}
    odd += [name for name, value in numbers.items() if name.endswith("_eps") and not 0 < value <= 0.1]
    odd += [name for name, value in numbers.items() if "dropout" in name and not 0 <= value <= 0.9]
    width, heads = (next(name for name in names if name in counts) for names in (WIDTHS, HEADS))
    if not odd and counts[width] % counts[heads]:
        odd = [f"{width}, which is not a multiple of {heads}"]
    if odd:
        raise checkpoint.faulty(f"The config.json of {checkpoint.name} has a number that no such model has: {odd[0]}")


def check_weights(checkpoint: Checkpoint, wanted: Shapes) -> None:
    """Raise ModelError unless the file can hold the weights `wanted` of an encoder: enough, and none with another shape."""
    try:
        misfits = _find_misfits(checkpoint, wanted)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        logger.warning("The header of a model's weights cannot be read", exc_info=error)
        raise checkpoint.unreadable("weights") from error
    if misfits is not None:
        raise misfit(checkpoint, misfits)


def dtypes(checkpoint: Checkpoint) -> str:
    """The number formats in the file, such as 'F32'; '' for files that only torch can read."""
    found: set[str] = set()
    for file in weight_files(checkpoint):
        if file.suffix != ".safetensors":
            return ""
        with safe_open(file, framework="numpy") as tensors:
            found |= {tensors.get_slice(name).get_dtype() for name in tensors.keys()}  # noqa: SIM118
    return ", ".join(sorted(found & DTYPES))


def misfit(checkpoint: Checkpoint, where: str = "") -> ModelError:
    """An error about weights of another configuration; `where` may continue the sentence."""
    return checkpoint.faulty(f"The weights of {checkpoint.name} do not fit its config.json{where}")


def _find_misfits(checkpoint: Checkpoint, wanted: Shapes) -> str | None:
    """The first weight of another shape, as the end of a sentence; '' where there are too few weights or too many layers."""
    files, count = weight_files(checkpoint), sum(map(math.prod, wanted.values()))
    if files[0].suffix != ".safetensors":
        return None if count * LEAST_BYTES <= sum(file.stat().st_size for file in files) else ""
    shapes: Shapes = {}
    for file in files:
        shapes |= _shapes(file, f"{checkpoint.family.encoder}.")
    for name, shape in wanted.items():
        if shapes.get(name, shape) != shape:
            return ": {} has {} numbers, not {}".format(name, *(" × ".join(map(str, size)) for size in (shapes[name], shape)))
    layers = f"{checkpoint.family.layers}."  # layers that are not wanted would be dropped silently
    there, asked = (
        {name.removeprefix(layers).split(".")[0] for name in names if name.startswith(layers)} for names in (shapes, wanted)
    )
    return None if there <= asked and count <= sum(map(math.prod, shapes.values())) else ""


def weight_files(checkpoint: Checkpoint) -> list[Path]:
    """The files that hold the weights. Raises OSError, ValueError and others when their index is broken."""
    weights = next(path for name in WEIGHT_FILES if (path := checkpoint.folder / name).is_file())
    if not weights.name.endswith(".index.json"):
        return [weights]
    parts = set(json.loads(weights.read_bytes())["weight_map"].values())
    if any(os.path.basename(part) != part for part in parts):
        raise ValueError("a part outside of the folder")
    return [checkpoint.folder / part for part in sorted(parts)]


def _shapes(file: Path, prefix: str) -> Shapes:
    """The shape of every tensor in a safetensors file, by its name in the encoder. Raises ValueError for unusual files."""
    with file.open("rb") as opened:
        if int.from_bytes(opened.read(8), "little") > MOST_HEADER_BYTES:
            raise ValueError("header")
    shapes = {}
    with safe_open(file, framework="numpy") as tensors:
        for name in tensors.keys():  # noqa: SIM118  (it is not a dictionary)
            tensor = tensors.get_slice(name)
            # Position ids are integers; weights of fewer than 16 bits would need a scale, which is missing.
            if tensor.get_dtype() not in DTYPES and not name.endswith("position_ids"):
                raise ValueError("dtype")
            # Checkpoints of 2018 have other names for the weights of LayerNorm.
            name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
            shapes[name.removeprefix(prefix)] = tuple(tensor.get_shape())
    return shapes
