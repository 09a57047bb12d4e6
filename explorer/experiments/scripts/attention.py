import torch

from explorer.ui.scripts.start import model, tokenizer

items = [("The man was late.", "", [3, 4], [1, 2]), ("She was late.", "", [3], [1])]  # text A, text B, queries, keys
model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
weights = []  # [items, layers, heads]
for text_a, text_b, queries, keys in items:
    inputs = tokenizer(text_a, text_b or None, truncation=True, max_length=512, return_tensors="pt")
    attention = torch.cat(model(**inputs, output_attentions=True).attentions)  # [layers, heads, query, key]
    weights.append(attention[:, :, queries].mean(2)[..., keys].sum(-1))
effects = torch.stack(weights).mean(0)
print(effects)
