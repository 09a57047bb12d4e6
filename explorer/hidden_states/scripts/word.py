import re

import torch

from explorer.ui.scripts.start import model, tokenizer

word, told_apart = "bank", True
texts = ["He sat on the bank of the river.", "She went to the bank.", "The bank lent money."]
labels = ["river", "money", "money"]
vectors = []
if told_apart:
    senses = []
for number, text in enumerate(texts):
    inputs = tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=512, return_tensors="pt")
    offsets = inputs.pop("offset_mapping")[0].tolist()
    states = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]
    for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE):
        pieces = [i for i, (start, end) in enumerate(offsets) if start < end and start < found.end() and end > found.start()]
        if pieces:
            vectors.append(states[:, pieces].mean(1))
            if told_apart:
                senses.append(labels[number])
vectors = torch.stack(vectors, 1)  # [layers + 1, contexts, hidden]
unit = vectors / vectors.norm(dim=-1, keepdim=True)
cosines = unit @ unit.transpose(1, 2)  # [layers + 1, contexts, contexts]
pairs = ~torch.eye(len(unit[0]), dtype=torch.bool)
if told_apart:
    same = torch.tensor([[one == other for other in senses] for one in senses])
    alike, different = cosines[:, pairs & same].mean(1), cosines[:, ~same].mean(1)  # [layers + 1] each
    print("in one sense", alike, "in two", different)
else:
    alike = cosines[:, pairs].mean(1)  # [layers + 1]: a static vector would have 1
    print(alike)
