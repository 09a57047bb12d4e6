"""Position vectors computed by formula. Pure functions."""

import numpy as np


def sinusoids(positions: int, size: int) -> np.ndarray:
    """[positions, size] float32, −1 to 1: the fixed position vectors of Vaswani et al. 2017, section 3.5.

    PE(pos, 2i) = sin(pos / 10000^(2i/size)), PE(pos, 2i + 1) = cos of the same.
    """
    angles = np.arange(positions)[:, None] / 10000 ** (np.arange(0, size, 2)[None, :] / size)  # [positions, ⌈size/2⌉]
    waves = np.empty((positions, size), dtype=np.float32)
    waves[:, 0::2] = np.sin(angles)
    waves[:, 1::2] = np.cos(angles[:, : size // 2])
    return waves
