"""The origin of a saved result: versions and weights."""

import functools
import hashlib
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from explorer.bert.checkpoints import Checkpoint
from explorer.bert.network import Network
from explorer.bert.plausible import weight_files
from explorer.core.paths import ASSETS


def provenance_of(model: Network) -> dict[str, Any]:
    """The model's name, the SHA-256 of its weights, the numbers it computes with, and the versions of what computed it."""
    return {
        "model": model.name,
        "weights": weights_hash(model.checkpoint),
        "dtype": "float32",
        "device": model.device.type,
        "explorer": own_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def describe(made: Mapping[str, Any]) -> str:
    """A provenance as a sentence for the foot of a page or of a script."""
    model = f"model {made['model']}" + (f" (weights SHA-256 {made['weights'][:12]}…)" if made["weights"] else "")
    versions = f"torch {made['torch']}, transformers {made['transformers']}"
    return f"Made with BERT Explorer {made['explorer']}, {model}, {made['dtype']}, {versions}."


@functools.lru_cache(maxsize=16)
def weights_hash(checkpoint: Checkpoint) -> str:
    """The SHA-256 of the weights of a checkpoint as hexadecimal digits; of several files, that of their digests by name.

    '' where the files are no longer there.
    """
    try:
        files = weight_files(checkpoint)
    except (OSError, StopIteration):
        return ""
    if len(files) == 1:
        return digest(files[0])
    return hashlib.sha256("".join(f"{shard.name} {digest(shard)}\n" for shard in files).encode()).hexdigest()


@functools.cache
def own_version() -> str:
    """Of this app: that of its package, in a checkout that of pyproject.toml."""
    project = ASSETS.parent / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
    try:
        return version("bert-explorer")
    except PackageNotFoundError:
        return ""


def digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
