"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

import numpy as np
import torch

from explorer.ui.scripts import inputs, model, tokens

# %% routes

position = 1
state = 6  # the position and hidden state whose routes are followed backwards: Ferrando and Voita 2024
outputs = model(**inputs, output_hidden_states=True, output_attentions=True)


def mix(layer, hidden, weights):  # how a layer mixes tokens, [query, key]: Ferrando et al. 2022
    output, heads = layer.attention.output, model.config.num_attention_heads
    value = layer.attention.self.value(hidden[0]).unflatten(-1, (heads, -1))  # [key, heads, size]
    matrix = output.dense.weight.T.unflatten(0, (heads, -1))  # [heads, size, hidden]
    parts = torch.einsum("hqk,khd,hdo->qko", weights[0], value, matrix)  # taken from each token
    parts.diagonal().add_(hidden[0].T)  # and kept of itself
    own, norm = parts.sum(1) + output.dense.bias, output.LayerNorm
    parts = (parts - parts.mean(-1, keepdim=True)) * norm.weight  # the norm but for its deviation
    own = norm(own) * (own.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    nearer = (own.abs()[:, None] - (own[:, None] - parts).abs()).sum(-1).clamp(min=0)
    return nearer / nearer.sum(-1, keepdim=True)


mixing = [mix(*one) for one in zip(model.bert.encoder.layer, outputs.hidden_states, outputs.attentions)]
places, found = torch.zeros(state + 1, len(tokens)), []  # [hidden states, tokens]: the share of what ends at the position
places[state, position] = 1
for number in reversed(range(state)):
    taken = places[number + 1, :, None] * mixing[number]
    places[number] = taken.sum(0)
    found += [(float(taken[at]), number + 1, *at) for at in np.ndindex(*taken.shape) if at[0] != at[1]]
for share, number, query, key in sorted(found, reverse=True)[:10]:
    print(f"layer {number}: {tokens[query]} takes from {tokens[key]} ({share:.1%} of the whole)")
