"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import math

import torch

from explorer.ui.scripts import inputs, model, tokens

# %% head

layer = 1
head = 1
attentions = model(**inputs, output_attentions=True).attentions  # of each layer [1, heads, query, key]
weights = attentions[layer - 1][0, head - 1]
for token, row in zip(tokens, weights.tolist()):
    print(token, *(f"{weight:.3f}" for weight in row))

# %% metrics

attention = torch.cat(model(**inputs, output_attentions=True).attentions)  # [layers, heads, query, key]
n, ids = len(tokens), inputs["input_ids"][0]
places = torch.arange(n)
side = torch.tensor([-1 if one is None else one for one in inputs.sequence_ids(0)])  # -1: added by the tokenizer
words = side >= 0
count = words.sum().clamp_min(1)
same = (ids[:, None] == ids) & words[:, None] & words & ~torch.eye(n, dtype=torch.bool)
metrics = {  # [layers, heads] each, and 0 where an input is too short to have what is averaged
    "entropy": -(attention * attention.clamp_min(1e-38).log()).sum((2, 3)) / (n * math.log(max(n, 2))),
    "distance": (attention * (places[:, None] - places).abs()).sum((2, 3)) / n,
    "confidence": (attention * words).amax(3)[..., words].sum(2) / count,
    "cls": attention[..., :1].sum(3).mean(2) * (side[0] < 0),
    "sep": attention[..., 1:][..., side[1:] < 0].sum(3).mean(2),
    "self": attention.diagonal(0, 2, 3).mean(2),
    "previous": attention.diagonal(-1, 2, 3).sum(2) / max(n - 1, 1),
    "next": attention.diagonal(1, 2, 3).sum(2) / max(n - 1, 1),
    "same_token": (attention * same).sum((2, 3)) / same.any(1).sum().clamp_min(1),
    "word": (attention * words * (1 - torch.eye(n))).amax(3)[..., words].sum(2) / count,
    "ahead": (attention * (words[:, None] & words).triu(1)).sum((2, 3)) / count,
}
for name, values in metrics.items():
    print(name, values)

# %% rollout

token = 1
up_to = 2  # the last layer
attention = torch.cat(model(**inputs, output_attentions=True).attentions).double()  # [layers, heads, query, key]
flow, flows = torch.eye(len(tokens), dtype=torch.float64), []
for weights in attention:  # Abnar & Zuidema 2020: half attention, half the residual connection
    flow = (weights.mean(0) + torch.eye(len(tokens))) / 2 @ flow
    flows.append(flow)
matrix = flows[up_to - 1]  # [query, input token]
sources = torch.stack([flow[token] for flow in flows])  # [layers, input token]
for name, share in zip(tokens, matrix[token].tolist()):
    print(f"{name} {share:.3f}")
