from explorer.ui.scripts.start import attention, tokens

layer, head = 1, 1
weights = attention[layer - 1, head - 1]  # [query, key]
causal = weights.tril()  # scores of −∞ above the diagonal give the same: the rest shares a weight of 1
causal = causal / causal.sum(-1, keepdim=True)
for token, row in zip(tokens, causal):
    print(token, row)
