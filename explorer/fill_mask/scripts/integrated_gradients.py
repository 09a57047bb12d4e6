import numpy as np
import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model, tokenizer

position = 6
word = "happy"
foil = None  # a word to compare it with
steps = 50
answer, against = (one and tokenizer.convert_tokens_to_ids(one) for one in (word, foil))
ids, words = inputs.pop("input_ids"), model.get_input_embeddings()
special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
embedded, start = words(ids), words(torch.where(special, ids, tokenizer.pad_token_id))  # from [PAD] to the input
nodes, sizes = np.polynomial.legendre.leggauss(steps)
scores = torch.zeros(len(tokens))
for node, size in zip(nodes, sizes):  # Sundararajan et al. 2017
    point = (start + (1 + node) / 2 * (embedded - start)).float().requires_grad_()
    logits = model.cls.predictions(model.bert(inputs_embeds=point, **inputs).last_hidden_state[0, position])
    (logits[answer] - logits[against] if foil else logits[answer]).backward()
    scores += size / 2 * (point.grad * (embedded - start)).sum(-1)[0]
for token, score in zip(tokens, scores.tolist()):
    print(f"{token} {score:+.3f}")
