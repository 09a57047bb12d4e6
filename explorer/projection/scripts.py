"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import torch

from explorer.ui.scripts import longest, model, tokenizer

# %% map

texts = ["The cat sat.", "A cat was sitting.", "The stock fell."]
layer = 6
dimensions = 2
vectors = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    vectors.append(model(**inputs, output_hidden_states=True).hidden_states[layer][0].mean(0))  # of all tokens
centred = torch.stack(vectors).double() - torch.stack(vectors).double().mean(0)  # [texts, hidden]
_, _, directions = torch.linalg.svd(centred, full_matrices=False)
points = centred @ directions[:dimensions].T  # principal components: Pearson 1901
points /= (points**2).sum(1).mean().sqrt()  # the page turns its map to that of the layer above; distances are the same
for text, point in zip(texts, points.tolist()):
    print(*(f"{one:+.3f}" for one in point), text)
