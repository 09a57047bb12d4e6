from explorer.ui.scripts.inputs import inputs, tokens
from explorer.ui.scripts.start import model

layer = 1
head = 1
attentions = model(**inputs, output_attentions=True).attentions  # of each layer [1, heads, query, key]
weights = attentions[layer - 1][0, head - 1]
for token, row in zip(tokens, weights.tolist()):
    print(token, *(f"{weight:.3f}" for weight in row))
