"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import torch

from explorer.ui.scripts import inputs, model, tokens

# %% embeddings

ids, segments = inputs["input_ids"], inputs["token_type_ids"]
embeddings = model.bert.embeddings
parts = {
    "token": embeddings.word_embeddings(ids),
    "position": embeddings.position_embeddings(torch.arange(ids.shape[1])[None]),
    "segment": embeddings.token_type_embeddings(segments),
}
total = sum(parts.values())  # [1, tokens, hidden]
hidden_state = embeddings.LayerNorm(total)  # hidden state 0
norms = torch.stack([part[0].norm(dim=-1) for part in (*parts.values(), total, hidden_state)], 1)
print("position, token, id, segment, norms of", *parts, "sum", "LayerNorm")
for position, row in enumerate(zip(tokens, ids[0].tolist(), segments[0].tolist(), norms.tolist())):
    print(position, *row)
