"""Loading modules of torch from the files of a checkpoint, with checks of their contents."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from typing import Any

from safetensors import safe_open

from explorer.bert import attending, plausible
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.hub import EXAMPLE_ID
from explorer.core.engine import LOCK, torch, transformers
from explorer.core.errors import ModelError, logger

PATIENCE = 60.0  # seconds to wait while other models are opened
LARGEST = 1e6  # absolute value of a weight: beyond it, products of finite weights can become infinite

# Entries of config.json that are ignored: they would change the kind of model, or how its files are read.
_STEERING = {"dtype", "output_hidden_states", "return_dict", "chunk_size_feed_forward", "problem_type", "is_encoder_decoder"}
_UNDECLARED = {"num_labels", "tokenizer_class"}  # entries that transformers reads, though its classes do not declare them
_one_at_a_time = threading.Lock()  # from_pretrained temporarily patches transformers; two at once would leave it patched


@dataclass(frozen=True)
class Opened:
    """A model, the names of the weights that its file lacks, and of those in the file that have no place in it.

    `entries` are those of its config.json.
    """

    module: transformers.PreTrainedModel
    entries: dict[str, Any]
    missing: frozenset[str]
    unread: frozenset[str]


def read_model(checkpoint: Checkpoint) -> Opened:
    """The model with all its heads in float32, for inference only.

    Raises ModelError when the file cannot be read, does not fit its configuration, contains NaN or infinite numbers, or is not an
    encoder; and when other models are being opened for longer than PATIENCE.
    """
    transformers.utils.logging.disable_progress_bar()
    # A file may lack some heads: they are listed as missing, and the page says so.
    transformers.utils.logging.set_verbosity_error()
    kind = getattr(transformers, checkpoint.family.pretraining_class)
    entries = plausible.read_config(checkpoint)
    config = _config(checkpoint, kind.config_class, entries)
    if not _one_at_a_time.acquire(timeout=PATIENCE):
        raise ModelError(f"Other models are being opened, and {checkpoint.name} waits for them. Try again in a minute.")
    try:
        with LOCK:  # transformers imports modules when a model is opened
            model, info = kind.from_pretrained(
                checkpoint.folder,
                config=config,
                dtype=torch.float32,
                attn_implementation=attending.NAME,
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:  # readers of broken files raise all kinds of errors
        logger.warning("The weights of a model cannot be read", exc_info=error)
        raise checkpoint.unreadable("weights") from error
    finally:
        _one_at_a_time.release()
    missing = frozenset(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}
    family = checkpoint.family
    encoder, pooler = f"{family.encoder}.", f"{family.encoder}.{family.pooler}." if family.pooler else None
    if any(key.startswith(encoder) and not (pooler and key.startswith(pooler)) for key in missing):
        raise plausible.misfit(checkpoint)
    if any(key.removeprefix(encoder).startswith(f"{family.layers}.") for key in info["unexpected_keys"]):
        raise plausible.misfit(checkpoint)  # these layers would be dropped silently
    if not all(map(_is_sound, model.parameters())):
        raise _unsound(checkpoint)
    return Opened(model.eval().requires_grad_(False), entries, missing, frozenset(info["unexpected_keys"]))


def _config(
    checkpoint: Checkpoint, kind: type[transformers.PreTrainedConfig], entries: dict[str, Any]
) -> transformers.PreTrainedConfig:
    """The configuration to build the model from, after checking that it fits the weights. Raises ModelError."""
    if entries.get("is_decoder") or entries.get("position_embedding_type") not in (None, "absolute"):
        raise ModelError(
            f"{checkpoint.name} is a decoder or has relative positions; BERT Explorer reads encoders like {EXAMPLE_ID}."
        )
    pruned = entries.get("pruned_heads")
    if isinstance(pruned, dict) and any(pruned.values()):
        raise ModelError(
            f"The config.json of {checkpoint.name} lists pruned_heads, which transformers has not read since version 5; "
            "open the model as it was before heads were pruned."
        )
    # Entries that one family names differently may come under either name.
    known = {field.name for field in fields(kind)} | {*kind.attribute_map, *checkpoint.family.older_settings, *_UNDECLARED}
    try:
        config = kind(**{name: value for name, value in entries.items() if name in known - _STEERING})
    except Exception as error:  # wrong types raise all kinds of errors
        logger.warning("The configuration of a model cannot be read", exc_info=error)
        raise checkpoint.faulty(f"transformers does not take an entry in the config.json of {checkpoint.name}") from error
    plausible.check(checkpoint, config.to_dict())
    plausible.check_weights(checkpoint, _shapes(checkpoint, config))
    return config


def _shapes(checkpoint: Checkpoint, config: transformers.PreTrainedConfig) -> plausible.Shapes:
    """The shape of every weight of the encoder for a configuration, without allocating them. Raises ModelError."""
    family = checkpoint.family
    try:
        with LOCK, torch.device("meta"):
            model = getattr(transformers, family.pretraining_class)(config)
    except Exception as error:  # inconsistent numbers raise all kinds of errors
        logger.warning("The configuration of a model cannot be built", exc_info=error)
        raise checkpoint.faulty(f"transformers does not take an entry in the config.json of {checkpoint.name}") from error
    named = getattr(model, family.encoder).named_parameters()
    return {name: tuple(weight.shape) for name, weight in named if not (family.pooler and name.startswith(f"{family.pooler}."))}


def read_tensors(checkpoint: Checkpoint, wanted: plausible.Shapes) -> dict[str, torch.Tensor] | None:
    """The weights of these names and shapes in float32, None if one is missing. Raises ModelError when they are invalid."""
    found: dict[str, torch.Tensor] = {}
    try:
        for file in plausible.weight_files(checkpoint):
            if file.suffix == ".safetensors":
                with safe_open(file, framework="pt") as tensors:
                    found |= {name: tensors.get_tensor(name) for name in wanted if name in tensors.keys()}  # noqa: SIM118
            else:
                tensors = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
                found |= {name: tensors[name] for name in wanted if name in tensors}
    except Exception as error:  # see read_model
        logger.warning("The weights of a head cannot be read", exc_info=error)
        raise checkpoint.unreadable("weights") from error
    if wanted.keys() - found.keys():
        return None
    for name, shape in wanted.items():
        if (there := tuple(found[name].shape)) != shape:
            sizes = (" × ".join(map(str, numbers)) for numbers in (there, shape))
            raise plausible.misfit(checkpoint, f": {name} is {{}}, and id2label or num_labels asks for {{}}".format(*sizes))
    weights = {name: weight.float() for name, weight in found.items()}
    if not all(map(_is_sound, weights.values())):
        raise _unsound(checkpoint)
    return weights


def _unsound(checkpoint: Checkpoint) -> ModelError:
    return checkpoint.faulty(f"The weights of {checkpoint.name} hold infinite numbers or none at all")


def _is_sound(weight: torch.Tensor) -> bool:
    """Whether every number is finite and below LARGEST in size; comparisons with NaN are false."""
    lowest, highest = weight.detach().aminmax()
    return bool(lowest > -LARGEST and highest < LARGEST)
