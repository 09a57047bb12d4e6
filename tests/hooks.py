"""transformers' own model, changed with plain hooks: what our own ways to change a run are held to."""

from contextlib import contextmanager


@contextmanager
def zeroed(module, heads):
    """The heads (zero-based layer, head) cut out of what W_O reads."""
    size = module.config.hidden_size // module.config.num_attention_heads
    hooks = []
    for layer in {layer for layer, _ in heads}:

        def zero(_, inputs, layer=layer):
            context = inputs[0].clone()
            for _, head in (pair for pair in heads if pair[0] == layer):
                context[..., head * size : (head + 1) * size] = 0
            return (context,)

        dense = module.bert.encoder.layer[layer].attention.output.dense
        hooks.append(dense.register_forward_pre_hook(zero))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
