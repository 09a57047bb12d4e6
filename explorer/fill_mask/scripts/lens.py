import torch

from explorer.fill_mask.scripts.tuned import hidden_states
from explorer.ui.scripts.start import model, tokenizer

start, stop, is_part = 0, 128, False
if is_part:
    hidden_states = hidden_states[:, start:stop]  # some positions
final = model.cls.predictions(hidden_states[-1]).argmax(-1, keepdim=True)  # [positions, 1]
ids, probabilities, final_ranks = [], [], []
for hidden in hidden_states:  # each as if it were the last: nostalgebraist 2020
    logits = model.cls.predictions(hidden)  # [positions, vocabulary]
    share, best = logits.softmax(-1).max(-1)
    ids.append(best)
    probabilities.append(share)
    final_ranks.append((logits > logits.gather(-1, final)).sum(-1) + 1)
ids, probabilities, final_ranks = map(torch.stack, (ids, probabilities, final_ranks))  # [layers + 1, positions]
for layer, best in enumerate(ids.tolist()):
    print(layer, *tokenizer.convert_ids_to_tokens(best))
