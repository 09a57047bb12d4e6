"""Loading the tokenizer of a checkpoint, and whether its vocabulary fits it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable

from explorer.bert.checkpoints import Checkpoint
from explorer.core.engine import LOCK, transformers
from explorer.core.errors import ModelError
from explorer.core.log import logger
from explorer.text.pieces import Writing, bare, shown

RARE = 0.01  # share of the vocabulary; of the bundled one, 0.02% can never be produced
SAMPLE = "Paris"


def read_tokenizer(checkpoint: Checkpoint, config: transformers.PreTrainedConfig) -> transformers.PreTrainedTokenizerBase:
    """The tokenizer of a model of this configuration. Raises ModelError when it is broken or belongs to another model."""
    vocab_size = config.vocab_size
    try:
        with LOCK:  # see read_model
            open_tokenizer = transformers.AutoTokenizer.from_pretrained
            tokenizer = open_tokenizer(checkpoint.folder, config=config, local_files_only=True, trust_remote_code=False)
        highest = max(tokenizer.get_vocab().values(), default=0)
        for pair in (("a",), ("a", "b")):  # some faults only show when texts are encoded
            tokenizer(*pair, truncation="longest_first", max_length=16)
            tokenizer(*pair, truncation=False, verbose=False)
    except Exception as error:  # see read_model
        logger.warning("The tokenizer of a model cannot be read", exc_info=error)
        raise _unreadable(checkpoint, _declared(checkpoint, config), error) from error
    # A tokenizer that did not find its vocabulary has five pieces and gives [UNK] for every word, without an error.
    if not vocab_size // 2 <= len(tokenizer) <= vocab_size or highest >= vocab_size:
        raise checkpoint.faulty(f"The tokenizer of {checkpoint.name} has {len(tokenizer):,} pieces, its model {vocab_size:,}")
    if not tokenizer.is_fast:
        raise _unreadable(checkpoint, type(tokenizer))
    for name, id in (("mask_token", tokenizer.mask_token_id), ("pad_token", tokenizer.pad_token_id)):
        if id is None:
            raise ModelError(f"The tokenizer of {checkpoint.name} has no {name}; name one in its tokenizer_config.json.")
    return tokenizer


def _declared(checkpoint: Checkpoint, config: transformers.PreTrainedConfig) -> type | None:
    """The class of transformers that the files name for the tokenizer, None without one."""
    name = getattr(config, "tokenizer_class", None)
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):  # without one, the configuration's counts
        name = json.loads((checkpoint.folder / "tokenizer_config.json").read_bytes()).get("tokenizer_class") or name
    found = getattr(transformers, name, None) if isinstance(name, str) else None
    return found if isinstance(found, type) else None


def _unreadable(checkpoint: Checkpoint, kind: type | None, error: Exception | None = None) -> ModelError:
    """An error about a tokenizer of a class that could not be used, by what is known of the reason."""
    needs = ""
    if isinstance(error, ImportError):  # transformers raises its own in place of Python's, which knows the name
        package = getattr(error.__context__, "name", None) or error.name
        needs = f"needs the package {str(package).replace('_', '-')[:40]}" if package else "needs another package"
    if kind is not None and issubclass(kind, transformers.PreTrainedTokenizer):
        return ModelError(
            f"The tokenizer of {checkpoint.name}, {kind.__name__}, {needs}{' and ' if needs else ''}is slow: it does not report "
            "where in a text its pieces are; open a model with a fast tokenizer."
        )
    if needs:
        return ModelError(f"The tokenizer of {checkpoint.name} {needs}, which is not installed; install it and try again.")
    return checkpoint.unreadable("tokenizer")


def letter_reader(tokenizer: transformers.PreTrainedTokenizerBase) -> Callable[[str], str]:
    """A function from a letter to that as which the tokenizer reads it; one that it reads as none or several is unchanged."""
    normalize = _normalizer(tokenizer)

    def read(letter: str) -> str:
        made = normalize(letter)
        return made if len(made) == 1 else letter

    return read


def _normalizer(tokenizer: transformers.PreTrainedTokenizerBase) -> Callable[[str], str]:
    """A function from a text to that as which the tokenizer cuts it into pieces, without the space before a word."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return lambda text: text if normalizer is None else str(normalizer.normalize_str(text)).strip(" ▁")


def casing(tokenizer: transformers.PreTrainedTokenizerBase, vocabulary: Iterable[str], writing: Writing) -> str:
    """A sentence on a vocabulary whose case is not that of its tokenizer; '' if they fit."""
    read = _normalizer(tokenizer)
    reserved = {*tokenizer.all_special_tokens, *(token.content for token in tokenizer.added_tokens_decoder.values())}
    pieces = [piece for piece in vocabulary if piece not in reserved and not piece.startswith("[unused")]
    joined = "\0".join(pieces).replace("Ġ", "")
    capital = sum(map(str.__ne__, joined.split("\0"), joined.lower().split("\0")))
    if read("A") == "a" and capital > RARE * len(pieces):
        never = sum(read(spelled) != spelled for spelled in (bare(shown(piece, writing)) for piece in pieces)) / len(pieces)
        return (
            f"The tokenizer makes all letters small, and the vocabulary has capital ones: {100 * never:.0f}% of its pieces can "
            "never occur. Set do_lower_case to false in tokenizer_config.json if the model was trained with capitals."
        )
    if read("A") == "A" and not capital and any(piece.isascii() and piece.isalpha() for piece in pieces):
        made = " ".join(shown(piece, writing) for piece in tokenizer.tokenize(SAMPLE))
        return (
            f"The tokenizer keeps capital letters, and 0% of the vocabulary's pieces have one: “{SAMPLE}” is read as {made}. "
            "Set do_lower_case to true in tokenizer_config.json if the model was trained without capitals."
        )
    return ""
