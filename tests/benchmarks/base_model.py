"""A BERT of the size of BERT-base with random weights: speed does not depend on what was learned."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import explorer
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer

SENTENCE = "The man went to the [MASK] to buy some milk, and he paid for"  # 17 tokens with [CLS] and [SEP]


@cache
def base_model() -> Explorer:
    """12 layers × 12 heads × 768, the bundled model's vocabulary, both pre-training heads."""
    import torch
    import transformers

    folder = Path(tempfile.mkdtemp(prefix="bert-base-random-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    torch.manual_seed(0)
    vocabulary = json.loads((BUNDLED_FOLDER / "config.json").read_text("utf-8"))["vocab_size"]
    transformers.BertForPreTraining(transformers.BertConfig(vocab_size=vocabulary)).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(BUNDLED_FOLDER).save_pretrained(folder)
    return explorer.load(folder)


def text_of(tokens: int) -> str:
    """A text that the tokenizer cuts into so many tokens, with [CLS] and [SEP]."""
    words = SENTENCE.replace("[MASK]", "store").replace(",", "").split()
    return " ".join(words[i % len(words)] for i in range(tokens - 2))
