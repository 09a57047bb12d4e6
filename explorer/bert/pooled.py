"""One forward pass reduced to one vector per text, on this machine or by a worker."""

from __future__ import annotations

from itertools import islice

import numpy as np

from explorer.bert.network import Network
from explorer.core.engine import inference_mode, torch

ANY_TOKEN = "any token"

Encoded = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of a text or pair, and their segments."""


@inference_mode
def pooled(network: Network, encoded: list[Encoded], top: int, pooling: str) -> np.ndarray:
    """[batch, top + 1, hidden] float32: the pooled vectors of hidden states 0 to `top`."""
    padded = network.pad(encoded)
    chosen = [1 + sum(row) % (len(row) - 2) if pooling == ANY_TOKEN else 0 for row, _ in encoded]  # position 0 is [CLS]

    def pool(hidden: torch.Tensor) -> torch.Tensor:  # [batch, tokens, hidden] -> [batch, hidden]
        if pooling == "mean":
            return (hidden * padded.real[..., None]).sum(1) / padded.lengths[:, None]
        return hidden[range(len(encoded)), chosen]

    states = [pool(hidden) for hidden in islice(network.run_padded(padded), top + 1)]
    return torch.stack(states, dim=1).numpy()
