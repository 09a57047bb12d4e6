"""A layer, the hidden state that it reads, and the attention of its heads."""

import torch

from explorer.ui.scripts.start import heads_of, layers, outputs

number, is_sliding = 1, False
layer, hidden = layers[number - 1], outputs.hidden_states[number - 1]
query, key, value = heads_of(layer, hidden)  # [1, heads, tokens, size] each
scores = query @ key.mT  # [1, heads, query, key]
scaled = scores / query.shape[-1] ** 0.5
if is_sliding:
    places = torch.arange(hidden.shape[1])
    far = (places[:, None] - places).abs() >= layer.attn.sliding_window  # this layer looks at what is near
    scaled = scaled.masked_fill(far, -torch.inf)
weights = scaled.softmax(-1)
