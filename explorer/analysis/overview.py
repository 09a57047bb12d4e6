"""An overview of all heads on one input, in one pass over the layers that holds only one of them in memory."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from explorer.analysis.attention import scale_end, thumbnails
from explorer.analysis.head_metrics import METRICS, TokenFacts, head_metrics, patterns


@dataclass(frozen=True)
class Overview:
    """`small` [layers, heads, s, s] in 0 to 1, each picture up to its `scale_end`; metrics and patterns are [layers, heads]."""

    small: np.ndarray
    metrics: dict[str, np.ndarray]
    patterns: np.ndarray
    strongest: np.ndarray  # [layers, heads] the largest weight of each head


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
    ends = scale_end(tops, len(facts.ids))[..., None, None]
    return Overview((np.stack(small) / ends).astype(np.float32), metrics, patterns(metrics), tops)
