"""From the files of a checkpoint to modules of torch, with a check that they are what they seem."""

import threading

import torch
import transformers

from explorer.base.errors import ModelError
from explorer.base.log import logger
from explorer.model.checkpoints import EXAMPLE_ID, Checkpoint

_one_at_a_time = threading.Lock()  # from_pretrained swaps functions of transformers; two at once leave them swapped


def read_model(checkpoint: Checkpoint) -> tuple[transformers.PreTrainedModel, set[str]]:
    """The model with all its heads in float32, to be run only, and the names of the weights that its file lacks.

    Raises ModelError when the file cannot be read, does not fit its configuration, or is no encoder.
    """
    transformers.utils.logging.disable_progress_bar()
    # A file without some head is no fault: what is missing is found out and told in the page.
    transformers.utils.logging.set_verbosity_error()
    try:
        with _one_at_a_time:
            model, info = getattr(transformers, checkpoint.family.pretraining_class).from_pretrained(
                checkpoint.folder,
                dtype=torch.float32,
                attn_implementation="sdpa",
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:  # a broken file raises whatever its reader happens to trip over
        logger.warning("The weights of a model cannot be read", exc_info=error)
        raise ModelError(f"The weights of {checkpoint.name} cannot be read; fetch the model again.") from error
    missing = set(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}
    encoder, pooler = f"{checkpoint.family.encoder}.", f"{checkpoint.family.encoder}.{checkpoint.family.pooler}."
    if any(key.startswith(encoder) and not key.startswith(pooler) for key in missing):
        raise ModelError(f"The weights of {checkpoint.name} do not fit its config.json; fetch the model again.")
    if model.config.is_decoder or getattr(model.config, "position_embedding_type", None) not in (None, "absolute"):
        raise ModelError(
            f"{checkpoint.name} is a decoder or has relative positions; BERT Explorer reads encoders like {EXAMPLE_ID}."
        )
    return model.eval().requires_grad_(False), missing


def read_tokenizer(checkpoint: Checkpoint, vocab_size: int) -> transformers.PreTrainedTokenizerBase:
    """The tokenizer of a model with `vocab_size` rows. Raises ModelError when it is broken or made for another model."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # see read_model
        logger.warning("The tokenizer of a model cannot be read", exc_info=error)
        raise ModelError(f"The tokenizer of {checkpoint.name} cannot be read; fetch the model again.") from error
    # A tokenizer that did not find its vocabulary has five pieces and says [UNK] to every word, without an error.
    if not vocab_size // 2 <= len(tokenizer) <= vocab_size:
        raise ModelError(
            f"The tokenizer of {checkpoint.name} has {len(tokenizer):,} pieces, its model {vocab_size:,}; fetch the model again."
        )
    if not tokenizer.is_fast or None in (tokenizer.mask_token_id, tokenizer.pad_token_id):
        raise ModelError(f"The tokenizer of {checkpoint.name} has no [MASK] or [PAD], or cannot tell where pieces are.")
    return tokenizer
