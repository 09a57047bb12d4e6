"""Attention rollout: the flow of information through all layers. Pure functions of arrays."""

from collections.abc import Iterable, Iterator

import numpy as np


def rollout(layers: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Attention rollout after each layer: [n, n] each, from attention [heads, n, n] of layers 1, 2, ...

    Abnar & Zuidema 2020, section 3: Ã = 0.5 · (mean over heads) + 0.5 · I, where the identity stands for the residual
    connection, and R_l = Ã_l R_{l-1}. Row i says how much each input token contributed to token i; rows sum to 1.
    """
    flow = None
    for attention in layers:
        mean = attention.mean(axis=0, dtype=np.float64)
        mixed = 0.5 * mean + 0.5 * np.eye(len(mean))
        flow = mixed if flow is None else mixed @ flow
        yield flow
