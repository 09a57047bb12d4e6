"""A run of the layers, one after the other, in which some attention weights are zero, and a vector may be patched."""

from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from explorer.ui.scripts.start import layers, model, outputs, rotary

off, patch_layer, patch_token = {0: [0]}, None, None
keeps_attention = True
seen = []  # of each layer its attention weights [heads, query, key] and values [heads, key, size]


def run_without(off, hidden):  # `off`: heads, or weights (head, query, key), by layer from 0, that are zero
    def attend(module, query, key, value, mask, scaling, **more):
        if rotary:
            weights = (query @ key.mT * scaling + (0 if mask is None else mask)).softmax(-1)  # [1, heads, query, key]
        else:
            weights = (query @ key.mT * scaling).softmax(-1)  # [1, heads, query, key]
        for place in off.get(len(states) - 1, []):
            weights[0][place] = 0
        if keeps_attention:
            seen.append((weights[0], value[0]))
        return (weights @ value).transpose(1, 2), weights

    AttentionInterface.register("without", attend)
    if rotary:
        AttentionMaskInterface.register("without", eager_mask)
    model.set_attn_implementation("without")
    if patch_layer == 0:
        hidden = hidden.clone()
        hidden[0, patch_token] = outputs.hidden_states[0][0, patch_token]  # one vector of the run before
    states = [hidden]
    for layer in layers:
        states.append(layer(states[-1]))
        if patch_layer:
            if len(states) == patch_layer + 1:
                states[-1][0, patch_token] = outputs.hidden_states[patch_layer][0, patch_token]  # one vector of the run before
    return states
