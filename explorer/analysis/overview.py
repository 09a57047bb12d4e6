"""All heads of one input at a glance, in one pass over the layers that never holds more than one of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from explorer.analysis.attention import thumbnails
from explorer.analysis.head_metrics import METRICS, TokenFacts, head_metrics, most_interesting, patterns


@dataclass(frozen=True)
class Overview:
    """`small` [layers, heads, s, s] in 0 to 1, each picture on its own scale; the metrics and patterns [layers, heads]."""

    small: np.ndarray
    metrics: dict[str, np.ndarray]
    patterns: np.ndarray
    strongest: np.ndarray  # the largest weight of each head

    @property
    def most_interesting(self) -> tuple[int, int]:
        """(layer, head), zero-based, of the head to look at first."""
        return most_interesting(self.metrics)


def overview(layers: Iterable[np.ndarray], facts: TokenFacts) -> Overview:
    """Thumbnails, metrics and patterns from attention [heads, n, n] of layers 1, 2, ..."""
    small, strongest, rows = [], [], []
    for attention in layers:
        pooled = thumbnails(attention)
        small.append(pooled)
        strongest.append(pooled.max(axis=(-2, -1)))
        rows.append(head_metrics(attention, facts))
    metrics = {metric.key: np.stack([row[metric.key] for row in rows]) for metric in METRICS}
    tops = np.stack(strongest)
    return Overview(own_scale(np.stack(small), len(facts.ids)), metrics, patterns(metrics), tops)


def own_scale(small: np.ndarray, tokens: int) -> np.ndarray:
    """Each picture of [..., s, s] divided by its largest weight, so that long inputs do not pale.

    A head that looks at everything alike would come out all dark: nothing is divided by less than eight times the
    weight that each of the tokens would get then.
    """
    top = np.maximum(small.max(axis=(-2, -1), keepdims=True), min(1.0, 8 / tokens))
    return (small / top).astype(np.float32)
