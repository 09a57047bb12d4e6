"""The files of a checkpoint: which are missing, what a folder or a repository holds instead, and what makes a checkpoint of it.

Nothing here imports torch, which is slow.
"""

import json
from collections.abc import Collection
from fnmatch import fnmatch
from itertools import chain, islice
from pathlib import Path

WEIGHT_FILES = ["model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"]
VOCABULARY_FILES = {"tokenizer.json", "vocab.txt", "merges.txt"}  # any one of them: the last comes with vocab.json
MOST_BELOW = 2_000  # files and folders among which a checkpoint is looked for
ADAPTER = "adapter_config.json"
_CONVERT = "In transformers 4, from_pretrained(…, from_{}=True) and save_pretrained() convert it"
_ORIGINAL = "Open the checkpoint from which it was made"
_KINDS = {  # patterns of file names: what such a file is, and what to do
    "*.onnx": ("an ONNX model", _ORIGINAL),
    "tf_model*.h5": ("weights of TensorFlow", _CONVERT.format("tf")),
    "flax_model*.msgpack": ("weights of Flax", _CONVERT.format("flax")),
    "*.ckpt.*": ("Google's TensorFlow format", "Convert it in transformers 4.30 with transformers-cli convert --model_type bert"),
    "*.gguf": ("weights for llama.cpp", _ORIGINAL),
    "model-*-of-*.safetensors": ("one of several shards", "Add model.safetensors.index.json, which lists all of them"),
    "pytorch_model-*-of-*.bin": ("one of several shards", "Add pytorch_model.bin.index.json, which lists all of them"),
    "*.safetensors": ("perhaps its weights", "Call it model.safetensors if it is the whole model"),
    "pytorch_model.*.bin": ("perhaps its weights", "Call it pytorch_model.bin if it is the whole model"),
}


def find_lack(folder: Path) -> str:
    """The first thing that a folder lacks: a configuration, weights with all shards of their index, a vocabulary; '' if none.

    Reading would ignore an adapter beside them, so its folder lacks the whole model.
    """
    index = ""
    try:
        files = {path.name for path in folder.iterdir() if path.is_file()}
        if ADAPTER in files:
            return "the whole model"
        weights = next((weights for weights in WEIGHT_FILES if weights in files), None)
        if "config.json" not in files or weights is None:
            return "config.json" if "config.json" not in files else WEIGHT_FILES[0]
        if weights.endswith(".index.json"):
            index = weights
            if absent := set(json.loads((folder / index).read_bytes())["weight_map"].values()) - files:
                return str(min(absent))[:80]
        return "" if files & VOCABULARY_FILES else "tokenizer.json or vocab.txt"
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return f"a {index} that can be read" if index else "files that can be read"


def instead_of(name: str, folder: Path, lacks: str) -> str:
    """A sentence on a folder that is not a checkpoint: where one is, how its files become one, or what it lacks."""
    below = _below(folder)
    if inner := [path for path in below if path.is_dir() and str(path).isprintable() and not find_lack(path)]:
        newest = max(inner, key=lambda path: path.stat().st_mtime).relative_to(folder)
        return f"{name} holds no checkpoint, but its folder {newest} does. Name {Path(name) / newest}"
    if other := describe_others(name, {str(path.relative_to(folder)) for path in below}):
        return other
    return f"{name} lacks {lacks}. A checkpoint has config.json, model.safetensors and tokenizer.json or vocab.txt"


def describe_others(name: str, files: Collection[str]) -> str:
    """A sentence on the files of another format, by their paths in a place called `name`, and what converts them; '' if none."""
    if ADAPTER in files:
        return (
            f"{name} holds an adapter (LoRA, PEFT) for the model that its {ADAPTER} names. Merge it first with "
            "merge_and_unload() and save_pretrained() of PEFT, and open the new folder"
        )
    if any(weights in files for weights in WEIGHT_FILES):
        return ""
    for pattern, (what, then) in _KINDS.items():
        if found := sorted(file for file in files if fnmatch(file.rpartition("/")[2], pattern) and file.isprintable()):
            return f"{name} has no model.safetensors but {found[0][-60:]}, {what}. {then}"
    return ""


def _below(folder: Path) -> list[Path]:
    """The first MOST_BELOW files and folders in a folder, and in those below it that the Hub's cache and exporters make."""
    try:
        return list(islice(chain(folder.glob("*"), folder.glob("snapshots/*"), folder.glob("onnx/*")), MOST_BELOW))
    except OSError:
        return []
