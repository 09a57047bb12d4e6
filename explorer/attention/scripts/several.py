from explorer.attention.scripts.top import top
from explorer.ui.scripts.start import attention, tokens

layer, heads = 1, [1, 2]
mass = 100
weights = attention[layer - 1, [head - 1 for head in heads]].sum(0).numpy()  # [query, key]
for token, share in zip(tokens, (weights.mean(0) / len(heads)).tolist()):
    print(f"{token} gets {share:.1%} of their weight")
if mass < 100:
    weights = top(weights, mass)
