import torch

from explorer.ui.scripts.start import longest, model, tokenizer

pairs = [("He opened the door.", "The room was dark."), ("He opened the door.", "Milk is white.")]
logits = []
for a, b in pairs:
    inputs = tokenizer(a, b, truncation=True, max_length=longest, return_tensors="pt")
    logits.append(model(**inputs).seq_relationship_logits[0])
logits = torch.stack(logits)  # [pairs, 2]: IsNext, NotNext
probabilities, differences = logits.softmax(-1)[:, 0], logits[:, 0] - logits[:, 1]
for place in differences.argsort(descending=True).tolist():
    print(f"{probabilities[place]:.2%} {differences[place]:+.2f}", *pairs[place])
