"""What a text's tokens are, before torch and transformers are imported: with the tokenizer's file alone."""

import json
import threading
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from explorer.bert import checkpoints
from explorer.bert.explorer import list_loaded
from explorer.bert.tokenizer import encode
from explorer.core.errors import ExplorerError, logger
from explorer.core.limits import TOKENS
from explorer.text import limits
from explorer.text.encoding import Encoding

TOKENIZING = threading.Lock()  # truncation is a state of the tokenizer


def encoding_of(name: str, text_a: str, text_b: str) -> Encoding | None:
    """The encoding by a model that is loaded, or by the WordPiece tokenizer of one on this machine; None if there is none.

    Nothing is downloaded, and a text that no model can read has no encoding.
    """
    try:
        text_a, text_b = limits.check_text(text_a, "text A"), limits.check_optional_text(text_b, "text B")
        if model := next((model for model in list_loaded() if model.name == name), None):
            return model.encode(text_a, text_b)
        folder = checkpoints.here(name)
        opened = _open(folder) if folder else None
    except ExplorerError:
        return None
    if opened is None:
        return None
    with TOKENIZING:
        return encode(*opened, text_a, text_b)


@lru_cache(maxsize=4)
def _open(folder: Path) -> tuple[Tokenizer, int] | None:
    """The tokenizer of a checkpoint that has segments, and how many tokens its model reads; None for other kinds."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        is_bert = isinstance(tokenizer.model, WordPiece) and config["type_vocab_size"] > 1
        return (tokenizer, min(config["max_position_embeddings"], TOKENS.most)) if is_bert else None
    except Exception as error:  # tokenizers raises Exception itself
        logger.info("A tokenizer cannot be read without transformers", exc_info=error)
        return None
