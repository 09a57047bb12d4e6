from explorer.inside_head.scripts.layer_read import hidden, layer, value, weights
from explorer.ui.scripts.start import bottleneck, rotary, tokens

token, has_parts, has_networks = 1, True, False
context = weights @ value  # [1, heads, tokens, size]
side_by_side = context.transpose(1, 2).flatten(2)
mixed = layer.attention.output.dense(side_by_side)
if rotary:
    y = hidden + mixed
    inner, gate = layer.mlp.Wi(layer.mlp_norm(y)).chunk(2, -1)
    following = y + layer.mlp.Wo(layer.mlp.act(inner) * gate)
elif has_parts:
    y = layer.attention.output.LayerNorm(mixed + hidden)
    inner = layer.intermediate.intermediate_act_fn(layer.intermediate.dense(y))
    following = layer.output.LayerNorm(layer.output.dense(inner) + y)
else:
    y = layer.attention.output.LayerNorm(mixed + (layer.bottleneck(hidden)[3] if bottleneck else hidden))
    if has_networks:
        for network in layer.ffn:
            y = network(y)
    inner = layer.intermediate(y)
    following = layer.output(inner, y, hidden)
following = following[0]  # the next hidden state
print(tokens[token], "before", hidden[0, token, :4], "after", following[token, :4])
