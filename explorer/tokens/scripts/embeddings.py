import torch

from explorer.ui.scripts.start import inputs, model, takes_segments

has_positions, before_first, has_segments = True, -1, True  # position ids that start later count from the padding's id
mixes_neighbours, is_transformed, is_projected = False, False, False
embeddings, ids = model.bert.embeddings, inputs["input_ids"]
added = {"token": embeddings.word_embeddings(ids)}
if mixes_neighbours:
    word, pad = added["token"], torch.nn.functional.pad  # each piece is mixed with its neighbours
    words = torch.cat([pad(word[:, 1:], (0, 0, 0, 1)), word, pad(word[:, :-1], (0, 0, 1, 0))], 2)
    added["token"] = embeddings.embedding_transformation(words)
elif is_transformed:
    added["token"] = embeddings.embedding_transformation(added["token"])
if has_positions and before_first >= 0:
    added["position"] = embeddings.position_embeddings(embeddings.create_position_ids_from_input_ids(ids, before_first))
elif has_positions:
    added["position"] = embeddings.position_embeddings(torch.arange(ids.shape[1])[None])
if has_segments and takes_segments:
    added["segment"] = embeddings.token_type_embeddings(inputs["token_type_ids"])
elif has_segments:
    added["segment"] = embeddings.token_type_embeddings(torch.zeros_like(ids))
total = sum(added.values())
normed = embeddings.LayerNorm(total)
hidden_state = model.bert.projection(normed) if is_projected else normed  # hidden state 0
norms = {name: part[0].norm(dim=-1) for name, part in (added | {"sum": total, "LayerNorm": normed}).items()}
cosines = {name: torch.cosine_similarity(total, part, dim=-1)[0] for name, part in added.items()}
for name, lengths in norms.items():
    print(name, lengths.tolist())
