import torch

from explorer.ui.scripts.start import hidden_states, tokens

measure = "Norm"
if measure == "Norm":
    values = hidden_states.norm(dim=-1)  # [layers + 1, tokens]
elif measure == "Away from the embedding":
    values = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:1], dim=-1)  # [layers, tokens]
else:
    values = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:-1], dim=-1)  # [layers, tokens]
for token, numbers in zip(tokens, values.T):
    print(token, numbers)
