"""Endpoints for attention and what it is computed from."""

from typing import Any

from explorer.analysis.head_metrics import METRICS
from explorer.attention.rollout import rollout as attention_rollout
from explorer.bert.explorer import load
from explorer.text import limits
from explorer.ui.attention_data import name_of, overview_of
from explorer.ui.subject import Subject


def attention(text_a: str, text_b: str = "", layer: int = 1, head: int = 1, model: str = "") -> dict[str, Any]:
    """The attention weights of one head: one row per query token, each summing to 1.

    Returns:
        `tokens`, `weights` (one row per query).
    """
    explorer = load(model)
    capabilities = explorer.capabilities
    layer, head = limits.layer_index(layer, capabilities.layers), limits.head_index(head, capabilities.heads)
    trace = explorer.trace(text_a, text_b)
    return {"tokens": list(trace.tokens), "weights": trace.attention(layer)[head].tolist()}


def rollout(text_a: str, text_b: str = "", layer: int = -1, model: str = "") -> dict[str, Any]:
    """Attention rollout (Abnar & Zuidema 2020) from layer 1 up to `layer`, -1 the last: one row per token, each summing to 1.

    The product of 0.5 · (mean over heads) + 0.5 · I, newer layers from the left.

    Returns:
        `tokens`, `weights`.
    """
    explorer = load(model)
    last = limits.layer_index(layer, explorer.capabilities.layers)
    trace = explorer.trace(text_a, text_b)
    *_, weights = attention_rollout(trace.attention(index) for index in range(last + 1))
    return {"tokens": list(trace.tokens), "weights": weights.tolist()}


def head_metrics(text_a: str, text_b: str = "", model: str = "") -> dict[str, Any]:
    """Numbers and a pattern for every head on this input, [layers][heads] each.

    entropy is the mean over query tokens of H / log n, distance the mean over query tokens of Σ a_ij · |i − j|,
    special tokens included; the others are mean weights from 0 to 1, confidence (Voita et al. 2019) and ahead
    among the text's own tokens.

    Returns:
        `metrics`: `entropy`, `distance`, `confidence`, `cls`, `sep`, `self`, `previous`, `next`, `same_token`, `ahead`,
        `pattern`, `name` (in plain words, with how sure), each with one row per layer.
    """
    explorer = load(model)
    subject = Subject.of(explorer.trace(text_a, text_b))
    seen, (layers, heads) = overview_of(subject), (explorer.capabilities.layers, explorer.capabilities.heads)
    numbers = {metric.key: seen.metrics[metric.key].tolist() for metric in METRICS}
    names = [[str(name_of(subject, (layer, head))) for head in range(heads)] for layer in range(layers)]
    return {"metrics": {**numbers, "pattern": seen.patterns.tolist(), "name": names}}


ENDPOINTS = (attention, rollout, head_metrics)
