import re

import torch

from explorer.ui.scripts.start import longest, model, tokenizer

word = "bank"
texts = ["He sat on the bank of the river.", "She went to the bank.", "The bank lent money."]
labels = ["river", "money", "money"]  # its senses
vectors, senses = [], []
for text, label in zip(texts, labels):
    inputs = tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=longest, return_tensors="pt")
    offsets = inputs.pop("offset_mapping")[0].tolist()
    states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)
    for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE):
        pieces = [i for i, (start, end) in enumerate(offsets) if start < end and start < found.end() and end > found.start()]
        if pieces:
            vectors.append(states[:, pieces].mean(1))
            senses.append(label)
vectors = torch.stack(vectors, 1)  # [layers + 1, contexts, hidden]
unit = vectors / vectors.norm(dim=-1, keepdim=True)
cosines = unit @ unit.mT  # [layers + 1, contexts, contexts]
same = torch.tensor([[one == other for other in senses] for one in senses])
pairs = same & ~torch.eye(len(senses), dtype=torch.bool)
alike, different = cosines[:, pairs].mean(1), cosines[:, ~same].mean(1)  # [layers + 1]; a static vector would have 1
print("in one sense", alike, "in two", different)
