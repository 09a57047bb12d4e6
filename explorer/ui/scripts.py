"""Beginnings of programs for people to take along, a section each; `programs.py` puts those first whose names a program uses."""

import sys
from importlib.util import find_spec
from pathlib import Path

from transformers import AttentionInterface, AttentionMaskInterface, AutoTokenizer, BertForPreTraining
from transformers.masking_utils import eager_mask

# %% shipped: where the app's own files are


def shipped(path):  # in this folder, or where the package is installed
    package = Path(getattr(find_spec("explorer"), "origin", None) or "").parent
    found = [str(place / path) for place in (Path(), package, package.parent) if (place / path).exists()]
    return found[0] if found else sys.exit(f"There is no {path} here; put its full path into this script.")


# %% start: the model with its pre-training heads

MODEL = shipped("assets/models/bert-l6-h384-uncased")  # or another folder, or an id on the Hugging Face hub
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = BertForPreTraining.from_pretrained(MODEL, dtype="float32", attn_implementation="eager").requires_grad_(False)
longest = model.config.max_position_embeddings  # tokens

# %% inputs: a text, or a pair of texts

text_a = "The man went to the [MASK] because he was happy."
text_b = None
inputs = tokenizer(text_a, text_b, truncation=True, max_length=longest, return_tensors="pt")
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])

# %% without: runs in which attention weights of some heads are zero

off = []  # heads that are switched off: (layer, head), from 1
cut = []  # weights that are zero: (layer, query, key, head), tokens from 0; head 0 for all heads


def attend(module, query, key, value, mask, scaling, **more):
    scores = query @ key.mT * scaling
    weights = (scores if mask is None else scores + mask).softmax(-1)  # [batch, heads, query, key]
    for layer, head in off:
        if layer == module.layer_idx + 1:
            weights[:, head - 1] = 0
    for layer, query_at, key_at, head in cut:
        if layer == module.layer_idx + 1:
            weights[:, head - 1 if head else slice(None), query_at, key_at] = 0
    return (weights @ value).transpose(1, 2), weights


AttentionInterface.register("without", attend)
AttentionMaskInterface.register("without", eager_mask)
model.set_attn_implementation("without")
