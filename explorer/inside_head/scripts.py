"""Programs for people to take along, a section each: `explorer/ui/programs.py` completes and fills them in."""

from explorer.ui.scripts import inputs, model, tokens

# %% layer

layer = 1
head = 1
token = 1
block = model.bert.encoder.layer[layer - 1]
hidden = model(**inputs, output_hidden_states=True).hidden_states[layer - 1]  # what the layer reads: [1, tokens, hidden]
own, heads = block.attention.self, model.config.num_attention_heads
query, key, value = (part(hidden).unflatten(-1, (heads, -1)).transpose(1, 2) for part in (own.query, own.key, own.value))
scores = query @ key.mT  # [1, heads, query, key]
scaled = scores / query.shape[-1] ** 0.5
weights = scaled.softmax(-1)
context = weights @ value  # of each head: [1, heads, tokens, size]
mixed = block.attention.output.dense(context.transpose(1, 2).flatten(2))
y = block.attention.output.LayerNorm(mixed + hidden)
inner = block.intermediate.intermediate_act_fn(block.intermediate.dense(y))
following = block.output.LayerNorm(block.output.dense(inner) + y)[0]  # the next hidden state
for name, *row in zip(tokens, *(part[0, head - 1, token].tolist() for part in (scores, scaled, weights))):
    print(name, *(f"{number:.3f}" for number in row))
print(tokens[token], "before", hidden[0, token, :4], "after", following[token, :4])
