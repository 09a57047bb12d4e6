"""Arrays as text that a browser reads without a loss."""

import base64

import numpy as np


def to_base64(array: np.ndarray) -> str:
    """The bytes of an array, row by row, lowest byte first."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def sqrt_bytes(weights: np.ndarray) -> np.ndarray:
    """Weights in 0 to 1 as bytes on a square-root scale, since attention is sparse: uint8, same shape.

    Raises ValueError for anything else.
    """
    weights = np.asarray(weights, dtype=np.float32)
    if not np.isfinite(weights).all() or weights.min(initial=0) < -1e-4 or weights.max(initial=0) > 1 + 1e-4:
        raise ValueError("weights must be numbers from 0 to 1")
    return np.rint(np.sqrt(weights.clip(0, 1)) * 255).astype(np.uint8)
