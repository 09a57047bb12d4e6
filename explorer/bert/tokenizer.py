"""Loading the tokenizer of a checkpoint, whether its vocabulary fits it, and reading texts with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

import tokenizers

from explorer.bert.checkpoints import Checkpoint
from explorer.core.engine import LOCK, transformers
from explorer.core.errors import ModelError, logger
from explorer.text.encoding import MASK, Encoding
from explorer.text.pieces import Writing, bare, show_piece, with_own_mask

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
        raise _unreadable(checkpoint, error) from error
    # A tokenizer that did not find its vocabulary has five pieces and gives [UNK] for every word, without an error.
    if not vocab_size // 2 <= len(tokenizer) <= vocab_size or highest >= vocab_size:
        raise checkpoint.faulty(f"The tokenizer of {checkpoint.name} has {len(tokenizer):,} pieces, its model {vocab_size:,}")
    if not tokenizer.is_fast:
        raise _slow(checkpoint, f", {type(tokenizer).__name__},")
    for name, id in (("mask_token", tokenizer.mask_token_id), ("pad_token", tokenizer.pad_token_id)):
        if id is None:
            raise ModelError(f"The tokenizer of {checkpoint.name} has no {name}. Name one in its tokenizer_config.json.")
    return tokenizer


def _unreadable(checkpoint: Checkpoint, error: Exception) -> ModelError:
    """An error about a tokenizer that transformers could not load."""
    if not isinstance(error, ImportError):
        return checkpoint.unreadable("tokenizer")
    package = getattr(error.__context__, "name", None) or error.name or "another package"  # transformers raises its own error
    return _slow(checkpoint, f" needs the package {str(package).replace('_', '-')[:40]} and")


def _slow(checkpoint: Checkpoint, what: str) -> ModelError:
    return ModelError(
        f"The tokenizer of {checkpoint.name}{what} is slow: it does not report where in a text its pieces are. Open a model "
        "with a fast tokenizer, which has a tokenizer.json."
    )


def normalizer_of(tokenizer: transformers.PreTrainedTokenizerBase) -> Callable[[str], str]:
    """A function from a text to that as which the tokenizer cuts it into pieces, without the space before a word."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return lambda text: text if normalizer is None else str(normalizer.normalize_str(text)).strip(" ▁")


def casing(tokenizer: transformers.PreTrainedTokenizerBase, vocabulary: Iterable[str], writing: Writing) -> str:
    """A sentence on a vocabulary whose case is not that of its tokenizer; '' if they fit."""
    read = normalizer_of(tokenizer)
    reserved = {*tokenizer.all_special_tokens, *(token.content for token in tokenizer.added_tokens_decoder.values())}
    pieces = [piece for piece in vocabulary if piece not in reserved and not piece.startswith("[unused")]
    joined = "\0".join(pieces).replace("Ġ", "")
    capital = sum(map(str.__ne__, joined.split("\0"), joined.lower().split("\0")))
    if read("A") == "a" and capital > RARE * len(pieces):
        never = sum(read(spelled) != spelled for spelled in (bare(show_piece(piece, writing)) for piece in pieces)) / len(pieces)
        return (
            f"The tokenizer makes all letters small, and the vocabulary has capital ones: {100 * never:.0f}% of its pieces can "
            "never occur. Set do_lower_case to false in tokenizer_config.json if the model was trained with capitals."
        )
    if read("A") == "A" and not capital and any(piece.isascii() and piece.isalpha() for piece in pieces):
        made = " ".join(show_piece(piece, writing) for piece in tokenizer.tokenize(SAMPLE))
        return (
            f"The tokenizer keeps capital letters, and 0% of the vocabulary's pieces have one: “{SAMPLE}” is read as {made}. "
            "Set do_lower_case to true in tokenizer_config.json if the model was trained without capitals."
        )
    return ""


def encode(
    tokenizer: tokenizers.Tokenizer, most: int, text_a: str, text_b: str, mask: str = MASK, cut: str = "right"
) -> Encoding | None:
    """The encoding of A, or of A and B, cut to `most` tokens at the side `cut`, the longer text first.

    None if the tokenizer keeps nothing of a text. `mask` is the model's own mask token. One thread at a time may use a
    tokenizer, since truncation is a state of it.
    """
    texts = [with_own_mask(text, mask) for text in ((text_a, text_b) if text_b else (text_a,))]
    first, second = texts[0][0], texts[1][0] if text_b else None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    total = len(tokenizer.encode(first, second))
    tokenizer.enable_truncation(most, direction=cut)
    read = tokenizer.encode(first, second)
    sequences = tuple(-1 if sequence is None else sequence for sequence in read.sequence_ids)
    if not set(range(len(texts))) <= set(sequences):
        return None
    return Encoding(
        text_a=text_a,
        text_b=text_b,
        tokens=tuple(read.tokens),
        ids=tuple(read.ids),
        segments=tuple(read.type_ids),
        positions=tuple(range(len(read))),
        attention_mask=tuple(read.attention_mask),
        offsets=tuple(
            span if sequence < 0 else typed_span(*span, *texts[sequence], len(mask))
            for span, sequence in zip(read.offsets, sequences, strict=True)
        ),
        sequences=sequences,
        words=tuple(-1 if word is None else word for word in read.word_ids),
        kept=len(read),
        total=total,
        mask=mask,
    )


def typed_span(start: int, end: int, text: str, masks: list[int], mask: int) -> tuple[int, int]:
    """Characters [start, end) of a text with the model's own mask token (`mask` characters), as those of the text typed.

    Leading whitespace, which some tokenizers count as part of a piece, is left out. `masks` are the ends of the mask tokens.
    """
    while start < end and text[start].isspace() and not text[start:end].isspace():
        start += 1
    longer = len(MASK) - mask
    return start + longer * bisect_right(masks, start), end + longer * bisect_right(masks, end)
