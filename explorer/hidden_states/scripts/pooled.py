import torch

from explorer.ui.scripts.start import hidden_states, model

first = hidden_states[-1, 0]
pooled = model.bert.pooler(hidden_states[-1:])[0]
print(pooled[:8], torch.cosine_similarity(first, pooled, dim=0))
