"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import torch

from explorer.ui.scripts import inputs, longest, model, tokenizer

# %% pair

logits = model(**inputs).seq_relationship_logits[0]  # IsNext, NotNext
probabilities = logits.softmax(-1)
print("IsNext {:.2%}, NotNext {:.2%}".format(*probabilities.tolist()), logits)

# %% pairs

pairs = [("He opened the door.", "The room was dark."), ("He opened the door.", "Milk is white.")]
logits = []
for a, b in pairs:
    inputs = tokenizer(a, b, truncation=True, max_length=longest, return_tensors="pt")
    logits.append(model(**inputs).seq_relationship_logits[0])
logits = torch.stack(logits)  # [pairs, 2]: IsNext, NotNext
probabilities, differences = logits.softmax(-1)[:, 0], logits[:, 0] - logits[:, 1]
for place in differences.argsort(descending=True).tolist():
    print(f"{probabilities[place]:.2%} {differences[place]:+.2f}", *pairs[place])
