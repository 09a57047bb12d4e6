import math

import torch

from explorer.corpus.scripts.texts import texts
from explorer.ui.scripts.start import model, tokenizer

shown, every = 100, 7  # of so many tokens one is masked
surprise = []  # bits, the mean of the hidden tokens of each sentence
for number, text in enumerate(texts):
    inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
    ids = inputs["input_ids"][0].clone()
    first = 1 + number % min(every, len(ids) - 2)
    hidden = torch.arange(first, len(ids) - 1, every)
    inputs["input_ids"][0, hidden] = tokenizer.mask_token_id
    logits = model(**inputs).prediction_logits[0, hidden]
    logs = logits.log_softmax(-1).gather(1, ids[hidden, None])
    surprise.append(-logs.mean().item() / math.log(2))
for bits, text in sorted(zip(surprise, texts), reverse=True)[:shown]:
    print(f"{bits:.1f} bits", text)
