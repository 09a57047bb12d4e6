"""Pairs of texts, the likeliest to follow each other first."""

import torch

from explorer.ui.scripts.start import model, tokenizer


def ranked(pairs):
    logits = []
    for a, b in pairs:
        inputs = tokenizer(a, b, truncation=True, max_length=512, return_tensors="pt")
        logits.append(model(**inputs).seq_relationship_logits[0])
    logits = torch.stack(logits)  # [pairs, 2]: IsNext, NotNext
    probabilities, differences = logits.softmax(-1)[:, 0], logits[:, 0] - logits[:, 1]
    for place in differences.argsort(descending=True).tolist():
        print(f"{probabilities[place]:.2%} {differences[place]:+.2f}", *pairs[place])
    return probabilities, differences, logits
