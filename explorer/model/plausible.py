"""Whether config.json and the weights can belong together, found out before anything is built from them.

Only the headers of the weights are read: a file of a few bytes cannot ask for gigabytes of layers. Nothing here imports torch.
"""

import json
import math
import os
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from explorer.base.errors import ModelError
from explorer.base.log import logger
from explorer.model.checkpoints import WEIGHT_FILES, Checkpoint

MOST_CONFIG_BYTES = 2**20
MOST_LABELS = 10_000
MOST_HEADER_BYTES = 8 * 2**20  # of one file: BERT-large has 50 kB
LEAST_BYTES = 2  # of a weight in a file of PyTorch, whose header is code: half precision
DTYPES = {"F64", "F32", "F16", "BF16"}


@dataclass(frozen=True)
class Sizes:
    """What a configuration says of a network."""

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int
    positions: int
    segments: int

    @property
    def parameters(self) -> int:
        """How many weights the tables and the matrices of the layers have: the least that a file must hold."""
        tables = (self.vocabulary + self.positions + self.segments) * self.hidden
        return tables + self.layers * (4 * self.hidden + 2 * self.intermediate) * self.hidden


MOST = Sizes(layers=64, heads=64, hidden=8192, intermediate=32_768, vocabulary=1_000_000, positions=4096, segments=16)


def read_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """The entries of config.json. Raises ModelError when it cannot be read."""
    try:
        data = (checkpoint.folder / "config.json").read_bytes()
        entries = json.loads(data) if len(data) <= MOST_CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise checkpoint.unreadable("config.json") from error
    # transformers invents a name for each of so many labels, even where only a tokenizer is read.
    if not isinstance(entries, dict) or (entries.get("num_labels") or 0) not in range(MOST_LABELS + 1):
        raise checkpoint.unreadable("config.json")
    return entries


def check(checkpoint: Checkpoint, sizes: Sizes, epsilon: float, dropouts: Iterable[float]) -> None:
    """Raises ModelError unless the sizes are those of a model and of the tensors in its file, and LayerNorm and dropout can be.

    `epsilon` is what LayerNorm adds, 0 to 0.1 (0 is not allowed); `dropouts` are shares from 0 to 0.9.
    """
    pairs = zip(astuple(sizes), astuple(MOST), strict=True)
    possible = all(type(size) is int and 1 <= size <= most for size, most in pairs) and sizes.hidden % sizes.heads == 0
    if not (possible and 0 < epsilon <= 0.1 and all(0 <= share <= 0.9 for share in dropouts)):
        raise checkpoint.faulty(f"The config.json of {checkpoint.name} holds numbers that no such model has")
    try:
        fits = _fits(checkpoint, sizes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        logger.warning("The header of a model's weights cannot be read", exc_info=error)
        raise checkpoint.unreadable("weights") from error
    if not fits:
        raise misfit(checkpoint)


def misfit(checkpoint: Checkpoint) -> ModelError:
    """What to say of weights for another configuration."""
    return checkpoint.faulty(f"The weights of {checkpoint.name} do not fit its config.json")


def _fits(checkpoint: Checkpoint, sizes: Sizes) -> bool:
    first = next(name for name in WEIGHT_FILES if (checkpoint.folder / name).is_file())
    files = [checkpoint.folder / name for name in _parts(checkpoint.folder / first)]
    if "safetensors" not in first:
        return sizes.parameters * LEAST_BYTES <= sum(file.stat().st_size for file in files)
    family = checkpoint.family
    shapes: dict[str, tuple[int, ...]] = {}
    for file in files:
        shapes |= _shapes(file, f"{family.encoder}.")
    tables = {
        family.word_embeddings: sizes.vocabulary,
        family.position_embeddings: sizes.positions,
        family.segment_embeddings: sizes.segments,
    }
    wanted = {f"{family.embeddings}.{table}.weight": (rows, sizes.hidden) for table, rows in tables.items()}
    for layer in range(sizes.layers):
        below = f"{family.layers}.{layer}"
        wanted[f"{below}.{family.intermediate}.{family.dense}.weight"] = (sizes.intermediate, sizes.hidden)
    own = f"{family.layers}."
    layers = {name.removeprefix(own).split(".")[0] for name in shapes if name.startswith(own)}
    fitting = all(shapes.get(name) == shape for name, shape in wanted.items())
    return (
        fitting
        and layers == {str(layer) for layer in range(sizes.layers)}
        and sizes.parameters <= sum(map(math.prod, shapes.values()))
    )


def _parts(weights: Path) -> list[str]:
    """The names of the files that hold the weights: this one, or those that an index names."""
    if not weights.name.endswith(".index.json"):
        return [weights.name]
    parts = set(json.loads(weights.read_bytes())["weight_map"].values())
    if any(os.path.basename(part) != part for part in parts):
        raise ValueError("a part outside of the folder")
    return sorted(parts)


def _shapes(file: Path, prefix: str) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor in a safetensors file, by its name within the encoder. Raises ValueError for odd ones."""
    with file.open("rb") as opened:
        if int.from_bytes(opened.read(8), "little") > MOST_HEADER_BYTES:
            raise ValueError("header")
    shapes = {}
    with safe_open(file, framework="numpy") as tensors:
        for name in tensors.keys():  # noqa: SIM118  (it is no dictionary)
            tensor = tensors.get_slice(name)
            # Ids of positions are integers; a weight of fewer than 16 bits needs a scale that is not there.
            if tensor.get_dtype() not in DTYPES and not name.endswith("position_ids"):
                raise ValueError("dtype")
            shapes[name.removeprefix(prefix)] = tuple(tensor.get_shape())
    return shapes
