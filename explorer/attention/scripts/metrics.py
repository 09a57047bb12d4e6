import math

import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model

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
