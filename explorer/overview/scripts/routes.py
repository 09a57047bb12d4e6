import numpy as np
import torch

from explorer.ui.scripts.start import inputs, layers, model, outputs, tokenizer
from explorer.ui.scripts.without import off, run_without, seen

position, state = 1, 6  # the place whose routes are followed backwards: Ferrando and Voita 2024
swapped_a, swapped_b = None, None  # the input with another word
is_narrowed, has_bias, has_norm, centres = False, True, True, True
start = outputs.hidden_states[0]
if swapped_a is not None:
    inputs = tokenizer(swapped_a, swapped_b, truncation=True, max_length=512, return_tensors="pt")
    start = model(**inputs, output_hidden_states=True).hidden_states[0]


def mix(layer, hidden, read):  # how a layer mixes tokens, [query, key]: Ferrando et al. 2022
    (weights, value), dense = read, layer.attention.output.dense
    parts = torch.einsum("hqk,hkd,hdo->qko", weights, value, dense.weight.T.unflatten(0, (len(weights), -1)))  # taken from each
    if is_narrowed:
        hidden = layer.bottleneck.input(hidden)
    parts.diagonal().add_(hidden[0].T)  # and kept of itself
    own = parts.sum(1) + dense.bias if has_bias else parts.sum(1)
    if has_norm:
        norm = layer.attention.output.LayerNorm
        if centres:
            parts = (parts - parts.mean(-1, keepdim=True)) * norm.weight  # the norm but for its deviation
            own = norm(own) * (own.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        else:
            parts, own = parts * norm.weight, norm(own)
    nearer = (own.abs()[:, None] - (own[:, None] - parts).abs()).sum(-1).clamp(min=0)
    return nearer / nearer.sum(-1, keepdim=True)


mixing = [mix(*one) for one in zip(layers, run_without(off, start), seen)]
places, found = torch.zeros(state + 1, start.shape[1]), []  # how much of it stands where
places[state, position] = 1
for number in reversed(range(state)):
    taken = places[number + 1, :, None] * mixing[number]
    places[number] = taken.sum(0)
    found += [(float(taken[at]), number + 1, *at) for at in np.ndindex(*taken.shape) if at[0] != at[1]]
pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
for share, number, query, key in sorted(found, reverse=True)[:10]:
    print(f"layer {number}: {pieces[query]} takes from {pieces[key]} ({share:.1%} of the place)")
