import numpy as np
import torch

from explorer.ui.scripts.asked import against, answer, foil, position
from explorer.ui.scripts.start import inputs, model, tokenizer

method, baseline, steps = "integrated_gradients", "pad", 50
ids, words = inputs.pop("input_ids"), model.get_input_embeddings()
special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
embedded = words(ids)


def logit(embedded):
    outputs = model(inputs_embeds=embedded, **inputs)
    logits = outputs.seq_relationship_logits[0] if position is None else outputs.prediction_logits[0, position]
    return logits[answer] if foil is None else logits[answer] - logits[against]


if method == "integrated_gradients":
    if baseline == "mean":
        start = torch.where(special[..., None], embedded, words.weight.mean(0))  # special tokens keep their own
    elif baseline == "mask":
        start = words(torch.where(special, ids, tokenizer.mask_token_id))  # special tokens keep their own
    else:
        start = words(torch.where(special, ids, tokenizer.pad_token_id))  # special tokens keep their own
    nodes, sizes = np.polynomial.legendre.leggauss(steps)  # Sundararajan et al. 2017
    scores = torch.zeros(len(ids[0]))
    for node, size in zip(nodes, sizes):  # on the way from the baseline to the input
        point = (start + (1 + node) / 2 * (embedded - start)).float().requires_grad_()
        logit(point).backward()
        scores += size / 2 * (point.grad * (embedded - start)).sum(-1)[0]
else:
    point = embedded.clone().requires_grad_()
    logit(point).backward()
    scores = (point.grad * point.detach()).sum(-1)[0]  # gradient × input: Shrikumar et al. 2016
occlusion = torch.zeros(len(ids[0]))
for place in (~special[0]).nonzero()[:, 0]:  # how far the logit falls when [MASK] stands there
    changed = ids.clone()
    changed[0, place] = tokenizer.mask_token_id
    occlusion[place] = logit(embedded) - logit(words(changed))
for token, score, fall in zip(tokenizer.convert_ids_to_tokens(ids[0]), scores.tolist(), occlusion.tolist()):
    print(f"{token} {score:+.3f} {fall:+.3f}")
