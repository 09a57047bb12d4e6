"""What scripts begin with: tokenizer, model, input, and what the model makes of it. Each gets of it what it uses."""

import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoTokenizer, BertForPreTraining, logging
from transformers.masking_utils import create_bidirectional_mask, create_bidirectional_sliding_window_mask
from transformers.models.modernbert.modeling_modernbert import apply_rotary_pos_emb

text_a, text_b, masked = "The man went to the [MASK] because he was happy.", None, None
is_whole, takes_segments, rotary, bottleneck = True, True, False, False  # of the model


def shipped(path):  # in the app's folder, or where the package is installed
    package = Path(getattr(find_spec("explorer"), "origin", None) or "").parent
    found = [str(place / path) for place in (Path(), package, package.parent) if (place / path).exists()]
    return found[0] if found else sys.exit(f"There is no {path} here; put its full path into this script.")


MODEL = shipped("assets/models/bert-l6-h384-uncased")  # or a folder, or an id on the Hugging Face hub
tokenizer = AutoTokenizer.from_pretrained(MODEL)
if not is_whole:
    logging.set_verbosity_error()  # it would list the weights that are not used
model = BertForPreTraining.from_pretrained(MODEL, dtype="float32").requires_grad_(False)
inputs = tokenizer(text_a, text_b, truncation=True, max_length=512, return_tensors="pt")
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
layers = model.bert.encoder.layer

if masked is not None:
    inputs["input_ids"][0, masked] = tokenizer.mask_token_id  # hidden
outputs = model(**inputs, output_hidden_states=True)
hidden_states = torch.stack(outputs.hidden_states)[:, 0]  # [layers + 1, tokens, hidden]
model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
attention = torch.stack(model(**inputs, output_attentions=True).attentions)[:, 0]  # [layers, heads, query, key]


def run(layer, hidden):  # the layer, with the positions that it turns queries and keys by
    made = create_bidirectional_mask if layer.attention_type == "full_attention" else create_bidirectional_sliding_window_mask
    mask = made(config=model.config, inputs_embeds=hidden, attention_mask=None)
    return layer(hidden, mask, model.bert.rotary_emb(hidden, torch.arange(hidden.shape[1])[None], layer.attention_type))


def heads_of(layer, hidden):  # queries, keys and values, [1, heads, tokens, size] each
    if rotary:
        projected = layer.attn.Wqkv(layer.attn_norm(hidden)).unflatten(-1, (3, model.config.num_attention_heads, -1))
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        places, kind = torch.arange(hidden.shape[1])[None], layer.attention_type
        return *apply_rotary_pos_emb(query, key, *model.bert.rotary_emb(hidden, places, kind)), value
    else:
        if bottleneck:
            for_query, for_key, for_value, _ = layer.bottleneck(hidden)
            read = layer.attention.self.query(for_query), layer.attention.self.key(for_key), layer.attention.self.value(for_value)
        else:
            read = layer.attention.self.query(hidden), layer.attention.self.key(hidden), layer.attention.self.value(hidden)
        return [part.unflatten(-1, (model.config.num_attention_heads, -1)).transpose(1, 2) for part in read]
