"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import re

import torch

from explorer.ui.scripts import inputs, longest, model, tokenizer, tokens

# %% states

state = 1  # 0 is the output of the embeddings
hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
vectors = hidden_states[state]
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [tokens, tokens] cosines
norms = hidden_states.norm(dim=-1)  # [layers + 1, tokens]
change = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:-1], dim=-1)  # of each layer: [layers, tokens]
away = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:1], dim=-1)  # from the embedding: [layers, tokens]
print(similarity)
for token, lengths, changes in zip(tokens, norms.T.tolist(), change.T.tolist()):
    print(token, "norms", *(f"{one:.2f}" for one in lengths), "changes", *(f"{one:.3f}" for one in changes))

# %% word

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

# %% sentences

texts = ["The cat sat.", "A cat was sitting.", "The stock fell."]
state = 6
vectors = []
for text in texts:
    inputs = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    hidden_states = model(**inputs, output_hidden_states=True).hidden_states
    vectors.append(hidden_states[state][0].mean(0))  # of all tokens
vectors = torch.stack(vectors)  # [texts, hidden]
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [texts, texts] cosines
print(similarity)
