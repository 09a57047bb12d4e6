"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import torch

from explorer.ui.scripts import longest, model, off, tokenizer

# %% heads

items = [("The man was [MASK].", None, "happy", "sad"), ("She was [MASK].", None, "late", "early")]  # text A, text B, word, foil
layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads


def difference(inputs, place, pair, *switched_off):  # how far the word's logit is above the foil's
    off[:] = switched_off
    word, foil = model.cls.predictions(model.bert(**inputs).last_hidden_state[0, place])[pair].tolist()
    return word - foil


changes = []  # of each item [layers, heads]
for text_a, text_b, *pair in items:
    inputs = tokenizer(text_a, text_b, truncation=True, max_length=longest, return_tensors="pt")
    asked = inputs, int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0]), tokenizer.convert_tokens_to_ids(pair)
    alone = [[difference(*asked, (layer, head)) for head in range(1, heads + 1)] for layer in range(1, layers + 1)]
    changes.append(torch.tensor(alone) - difference(*asked))
effects = torch.stack(changes).mean(0)  # negative where a head helps the word
print(effects)
