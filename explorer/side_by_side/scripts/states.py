import torch

from explorer.side_by_side.scripts.sides import here, there
from explorer.ui.scripts.start import model

both = (model(**one, output_hidden_states=True).hidden_states for one in (here, there))
mine, yours = (torch.stack(states)[:, 0] for states in both)
apart = 1 - torch.cosine_similarity(mine, yours, dim=-1)  # [layers + 1, tokens]
print(apart)
