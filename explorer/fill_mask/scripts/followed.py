import torch

from explorer.fill_mask.scripts.tuned import hidden_states
from explorer.ui.scripts.start import model, tokenizer

token, words, has_foil = 6, ["happy", "sad"], True
ids = tokenizer.convert_tokens_to_ids(words)
logits = model.cls.predictions(hidden_states[:, token])  # [layers + 1, vocabulary]
probabilities = logits.softmax(-1)[:, ids]
ranks = torch.stack([(logits > logits[:, [id]]).sum(-1) + 1 for id in ids], 1)
for word, shares, places in zip(words, probabilities.T.tolist(), ranks.T.tolist()):
    print(word, *(f"{share:.1%} (rank {rank})" for share, rank in zip(shares, places)))
if has_foil:
    differences = logits[:, ids] - logits[:, ids[-1:]]  # word minus foil, the last one
