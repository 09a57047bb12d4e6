"""Runs in which attention weights of some heads are zero."""

from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from explorer.ui.scripts.start import model

off = []  # heads that are switched off: (layer, head), from 1
cut = []  # weights that are zero: (layer, query, key, head), tokens from 0; head 0 for all heads


def attend(module, query, key, value, mask, scaling, **more):
    scores = query @ key.mT * scaling
    weights = (scores if mask is None else scores + mask).softmax(-1)  # [batch, heads, query, key]
    for layer, head in off:
        if layer == module.layer_idx + 1:
            weights[:, head - 1] = 0
    for layer, query_at, key_at, head in cut:
        if layer == module.layer_idx + 1:
            weights[:, head - 1 if head else slice(None), query_at, key_at] = 0
    return (weights @ value).transpose(1, 2), weights


AttentionInterface.register("without", attend)
AttentionMaskInterface.register("without", eager_mask)
model.set_attn_implementation("without")
