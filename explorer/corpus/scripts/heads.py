import torch

from explorer.corpus.scripts.texts import texts
from explorer.ui.scripts.start import model, tokenizer

layer, head = 1, 1
model.set_attn_implementation("eager")  # it returns its weights, which faster ones do not
sums, counts, cls, tokens = torch.zeros(17), torch.zeros(17), 0, 0
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    weights = model(**inputs, output_attentions=True).attentions[layer - 1][0, head - 1]  # [query, key]
    for place, offset in enumerate(range(-8, 9)):  # keys so far behind their query
        sums[place] += weights.diagonal(offset).sum()
        counts[place] += len(weights.diagonal(offset))
    cls, tokens = cls + weights[:, 0].sum(), tokens + len(weights)
mean_weights, mean_cls = sums / counts, cls / tokens
for offset, weight in zip(range(-8, 9), mean_weights.tolist()):
    print(f"{offset:+d}: {weight:.1%}")
print(f"[CLS]: {mean_cls:.1%}")
