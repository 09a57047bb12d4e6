"""The attention block of transformers' own eager model, decomposed in loops: the reference for our token mixing."""

from contextlib import contextmanager

import torch

from explorer.techniques import mixing, routes
from explorer.techniques.ablation import Run

PATHS = {  # from a layer: the values, W_O and the norm after the attention
    "bert": ("attention.self.value", "attention.output.dense", "attention.output.LayerNorm"),
    "distilbert": ("attention.v_lin", "attention.out_lin", "sa_layer_norm"),
    "albert": ("attention.value", "attention.dense", "attention.LayerNorm"),
    "modernbert": ("attn.Wqkv", "attn.Wo", ""),
}


class Read:
    """Inputs and outputs of the named modules of each layer in one forward pass, in the order in which the layers ran."""

    def __init__(self, layers, kind):
        self.value, self.dense, self.norm = PATHS.get(kind, PATHS["bert"])
        self.made = {self.value: [], self.dense: [], self.norm: []}
        self.module = layers[0]

    def see(self, path, layer):
        def hook(module, read, made):
            whole = made[0] if isinstance(made, tuple) else made
            self.made[path].append((module, read[0][0], whole[0]))

        return (layer.get_submodule(path) if path else layer).register_forward_hook(hook)


@contextmanager
def watching(layers, kind):
    """Each distinct layer of a model, with hooks."""
    read = Read(layers, kind)
    hooks = [read.see(path, layer) for layer in dict.fromkeys(layers) for path in read.made]
    try:
        yield read
    finally:
        for hook in hooks:
            hook.remove()


def decomposed(read, attentions, layer):
    """y [tokens, width], T [query, heads + 1, key, width] with the residual as its last head, and the biases [tokens, width]."""
    weights = attentions[layer][0]  # [heads, query, key]
    heads, tokens, _ = weights.shape
    dense, _, mixed = read.made[read.dense][layer]
    values = read.made[read.value][layer][2][:, -dense.in_features :].unflatten(-1, (heads, -1))  # the last third if all in one
    norm, into, after = read.made[read.norm][layer]
    if not read.norm:
        norm, into, after = None, mixed + into, mixed + into  # what the layer reads is what is added
    residual = into - mixed
    by_head = dense.weight.unflatten(1, (heads, -1))  # [width, heads, head_size]
    parts = torch.zeros(tokens, heads + 1, tokens, into.shape[-1])
    rest = torch.zeros(tokens, into.shape[-1])
    for query in range(tokens):
        for key in range(tokens):
            for head in range(heads):
                parts[query, head, key] = by_head[:, head] @ values[key, head] * weights[head, query, key]
        parts[query, heads, query] = residual[query]
        rest[query] = 0 if dense.bias is None else dense.bias
    if isinstance(norm, torch.nn.LayerNorm):
        deviation = (into.var(-1, unbiased=False) + norm.eps).sqrt()
        parts = (parts - parts.mean(-1, keepdim=True)) / deviation[:, None, None, None] * norm.weight
        rest = (rest - rest.mean(-1, keepdim=True)) / deviation[:, None] * norm.weight + norm.bias
    return after, parts, rest


def shares_of(after, parts):
    """[query, key]: the shares of Ferrando et al. 2022, equations 6 to 8, from parts [query, key, width]."""
    found = torch.zeros(parts.shape[:2], dtype=torch.float64)
    for query, vector in enumerate(after.double()):
        for key, part in enumerate(parts[query].double()):
            found[query, key] = max(0.0, float(vector.abs().sum() - (vector - part).abs().sum()))
        found[query] = found[query] / found[query].sum() if found[query].sum() else torch.eye(len(after))[query]
    return found.float()


@torch.inference_mode()
def head_shares(trace, layer, query, **changed):
    """What each head contributes to a query's shares as the app computes it: [heads + 1, key], the last row the residual."""
    row = torch.from_numpy(routes.mixing(Run(trace, **changed)).shares[layer, query].copy())
    return mixing.head_shares_of(routes.block_of(Run(trace, **changed), layer, [query]), query, row).numpy()


def divided(vector, parts, row):
    """The shares `row` by heads, from y and its parts [heads + 1, key, width]: |y| − |y − T| in proportion to the parts of T."""
    vector, parts = vector.double(), parts.double()
    whole = parts.sum(0)  # [key, width]
    by_head = torch.where(whole == 0, 0, parts / whole * (vector.abs() - (vector - whole).abs())).sum(-1)
    return torch.where(torch.tensor(row) > 0, by_head / by_head.sum(0) * torch.tensor(row), 0.0)
