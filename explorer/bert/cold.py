"""What a text's tokens are, before torch and transformers are imported: with the tokenizer's file alone."""

import json
import threading
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from explorer.bert import checkpoints
from explorer.bert.explorer import loaded
from explorer.core.errors import ExplorerError
from explorer.core.limits import TOKENS
from explorer.core.log import logger
from explorer.text import limits
from explorer.text.encoding import Encoding

TOKENIZING = threading.Lock()  # truncation is a state of the tokenizer


def encoding_of(name: str, text_a: str, text_b: str) -> Encoding | None:
    """The encoding by a model that is loaded, or by the WordPiece tokenizer of one on this machine; None if there is none.

    Nothing is downloaded, and a text that no model can read has no encoding.
    """
    try:
        text_a, text_b = limits.check_text(text_a, "text A"), limits.check_optional_text(text_b, "text B")
        if model := next((one for one in loaded() if one.name == name), None):
            return model.encode(text_a, text_b)
        folder = checkpoints.here(name)
        opened = _open(folder) if folder else None
    except ExplorerError:
        return None
    return _encode(*opened, text_a, text_b) if opened else None


@lru_cache(maxsize=4)
def _open(folder: Path) -> tuple[Tokenizer, int, bool] | None:
    """The tokenizer of a checkpoint, how many tokens its model reads, and whether it has segments; None for other kinds."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        most, segments = min(config["max_position_embeddings"], TOKENS.most), config.get("type_vocab_size", 0) > 1
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        if not isinstance(tokenizer.model, WordPiece):
            return None
        tokenizer.no_padding()
        return tokenizer, most, segments
    except Exception as error:  # tokenizers raises Exception itself
        logger.info("A tokenizer cannot be read without transformers", exc_info=error)
        return None


def _encode(tokenizer: Tokenizer, most: int, with_segments: bool, text_a: str, text_b: str) -> Encoding | None:
    """As `Explorer.encode`; None for a text of which nothing is left."""
    with TOKENIZING:
        tokenizer.no_truncation()
        total = len(tokenizer.encode(text_a, text_b or None))
        tokenizer.enable_truncation(most)  # the longer text first
        read = tokenizer.encode(text_a, text_b or None)
    sequences = tuple(-1 if sequence is None else sequence for sequence in read.sequence_ids)
    if 0 not in sequences or (text_b and 1 not in sequences):
        return None
    return Encoding(
        text_a=text_a,
        text_b=text_b,
        tokens=tuple(read.tokens),
        ids=tuple(read.ids),
        segments=tuple(read.type_ids) if with_segments else (0,) * len(read),
        positions=tuple(range(len(read))),
        attention_mask=tuple(read.attention_mask),
        offsets=tuple(read.offsets),
        sequences=sequences,
        words=tuple(-1 if word is None else word for word in read.word_ids),
        kept=len(read),
        total=total,
    )
