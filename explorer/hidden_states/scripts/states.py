import torch

from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model

state = 1  # 0 is the output of the embeddings
hidden_states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)  # [layers + 1, tokens, hidden]
vectors = hidden_states[state]
unit = vectors / vectors.norm(dim=1, keepdim=True)
similarity = unit @ unit.T  # [tokens, tokens] cosines
norms = hidden_states.norm(dim=-1)  # [layers + 1, tokens]
change = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:-1], dim=-1)  # of each layer: [layers, tokens]
away = 1 - torch.cosine_similarity(hidden_states[1:], hidden_states[:1], dim=-1)  # from the embedding: [layers, tokens]
print(similarity)
for token, lengths, changes in zip(tokens, norms.T.tolist(), change.T.tolist()):
    print(token, "norms", *(f"{one:.2f}" for one in lengths), "changes", *(f"{one:.3f}" for one in changes))
