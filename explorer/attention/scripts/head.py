import numpy as np
import torch

from explorer.attention.scripts.top import top
from explorer.ui.scripts.start import attention, heads_of, inputs, layers, outputs, takes_segments, tokens

layer, head = 1, 1
average, measure, specials, direction, group = "this head", "weight", "all", "all", "tokens"
starts = [0]  # the first token of each word or sentence
top_p = 100

if measure == "weight × value":

    def lengths(layer, hidden):  # [heads, key]: of f(x) = (x W_V + b_V) W_O
        _, _, value = heads_of(layer, hidden)
        output = layer.attention.output.dense.weight.T.unflatten(0, (value.shape[1], -1))  # [heads, size, hidden]
        return (value[0] @ output).norm(dim=-1)

    reached = torch.stack([lengths(*one) for one in zip(layers, outputs.hidden_states)])
    attention = attention * reached[:, :, None]  # the length of what is really added
if average == "this head":
    weights = attention[layer - 1, head - 1].numpy()  # [query, key]
elif average == "mean of the layer's heads":
    weights = attention[layer - 1].mean(0).numpy()  # [query, key]
elif average == "this head number, mean of all layers":
    weights = attention[:, head - 1].mean(0).numpy()  # [query, key]
else:
    weights = attention.mean((0, 1)).numpy()  # [query, key]
if group != "tokens":
    sizes = np.diff([*starts, len(tokens)])
    weights = np.add.reduceat(np.add.reduceat(weights, starts, 1), starts, 0) / sizes[:, None]
if specials != "all" or direction != "all":
    side = np.array([-1 if one is None else one for one in inputs.sequence_ids(0)])  # -1: added by the tokenizer
    if group != "tokens":
        side = side[starts]
    queries = keys = side >= 0 if specials != "all" else side == side
    if specials == "renormalised":
        weights = weights * keys
        left = weights.sum(1, keepdims=True)
        weights = weights / np.where(left == 0, 1, left)
    if direction != "all":
        if takes_segments:
            segment = inputs["token_type_ids"][0].numpy()
        else:
            segment = np.zeros(len(tokens))  # this model has none
        if group != "tokens":
            segment = segment[starts]
        query, key = ("AB".index(letter) for letter in direction.split("→"))
        queries, keys = queries & (segment == query), keys & (segment == key)  # 0 is A, 1 is B
    weights = weights[np.ix_(queries, keys)]
if top_p < 100:
    weights = top(weights, top_p)
if group == "tokens" and specials == "all" and direction == "all":
    for token, row in zip(tokens, weights):
        print(token, row.round(3))
else:
    print(weights.round(3))  # rows are queries, columns are keys
