"""transformers' own model, changed with plain hooks: the reference for our changes to a run."""

import hashlib
import itertools
from contextlib import contextmanager

import torch
import transformers

from explorer.bert import checkpoints


def eager_bert(model):
    """A fresh eager BERT of transformers, from the checkpoint of one of our models."""
    folder = checkpoints.find(model.name).folder
    read = transformers.BertForPreTraining.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return read.eval()


@contextmanager
def hooked(watched, change, before=False):
    """`change(number, activation)` is what modules read (`before`) or give meanwhile; None is the activation itself."""

    def hook(number):
        def read(_, given):
            new = change(number, given[0])
            return None if new is None else (new,)

        def give(_, given, out):
            new = change(number, out[0] if isinstance(out, tuple) else out)
            return (new, *out[1:]) if isinstance(out, tuple) and new is not None else new

        return watched[number].register_forward_pre_hook(read) if before else watched[number].register_forward_hook(give)

    hooks = [hook(number) for number in range(len(watched))]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()


def seen_in(watched, run, before=False):
    """What modules read (`before`) or give in a run."""
    seen = {}
    with hooked(watched, seen.__setitem__, before):
        run()
    return [seen[number] for number in range(len(watched))]


def with_head(context, head, heads, other):
    """A context [..., hidden] with that of one head, of so many, from another one or a number."""
    part = slice(head * context.shape[-1] // heads, (head + 1) * context.shape[-1] // heads)
    context = context.clone()
    context[..., part] = other[..., part] if torch.is_tensor(other) else other
    return context


def zeroed(dense, heads, off):
    """Zero the heads that are off (zero-based layer, head) in the input of W_O; `dense` has the W_O of each layer."""

    def zero(number, context):
        for _, head in (pair for pair in off if pair[0] == number):
            context = with_head(context, head, heads, 0)
        return context

    return hooked(dense, zero, before=True)


def hooks_of(model):
    """The hooks of all modules: transformers leaves its own behind where a test asked it for hidden states."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    return [list(getattr(module, kind)) for module in model.module.modules() for kind in kinds]


def fingerprint(model):
    """A hash of all weights of a model."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.module.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def every_dense(module):
    """W_O of each layer of a transformers BERT."""
    return [layer.attention.output.dense for layer in module.bert.encoder.layer]


@contextmanager
def cut_weights(module, cuts):
    """A transformers model with attention weights zero after the softmax; zero-based (layer, query, key, head; None: all).

    Layers are counted as they run: some families share weights among layers.
    """
    layers = itertools.count()

    def attend(layer_module, query, key, value, attention_mask, dropout=0.0, scaling=None, **more):
        scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        weights = (scores if attention_mask is None else scores + attention_mask).softmax(-1)
        layer = next(layers)
        for _, row, column, head in (cut for cut in cuts if cut[0] == layer):
            weights[:, slice(None) if head is None else head, row, column] = 0
        return (weights @ value).transpose(1, 2).contiguous(), weights

    before = module.config._attn_implementation
    transformers.AttentionInterface.register("cut", attend)
    transformers.masking_utils.AttentionMaskInterface.register("cut", transformers.masking_utils.eager_mask)
    module.set_attn_implementation("cut")
    try:
        yield
    finally:
        module.set_attn_implementation(before)
