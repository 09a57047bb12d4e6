import torch

from explorer.ui.scripts.start import model

first, every = 0, 4  # the first row that is a position; every fourth is shown
table = model.bert.embeddings.position_embeddings.weight[first:]  # [positions, hidden]
places, sizes = torch.arange(len(table))[:, None], torch.arange(0, table.shape[1], 2)
angles = places / 10000 ** (sizes.double() / table.shape[1])  # Vaswani et al. 2017, section 3.5
waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, : table.shape[1]].float()
learned, waves = table[::every], waves[::every]


def cosines(vectors):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    return unit @ unit.T


learned_alike, waves_alike = cosines(learned), cosines(waves)
print(learned_alike[0, :8], waves_alike[0, :8])
