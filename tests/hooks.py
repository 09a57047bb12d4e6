"""transformers' own model, changed with plain hooks: what our own ways to change a run are held to."""

from contextlib import contextmanager


@contextmanager
def zeroed(dense, heads, off):
    """The heads that are off (zero-based layer, head) cut out of what W_O reads: `dense` has that of each layer."""
    hooks = []
    for layer in {layer for layer, _ in off}:

        def zero(module, inputs, layer=layer):
            context, size = inputs[0].clone(), module.in_features // heads
            for _, head in (pair for pair in off if pair[0] == layer):
                context[..., head * size : (head + 1) * size] = 0
            return (context,)

        hooks.append(dense[layer].register_forward_pre_hook(zero))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def every_dense(module):
    """W_O of each layer of a BERT of transformers."""
    return [layer.attention.output.dense for layer in module.bert.encoder.layer]
