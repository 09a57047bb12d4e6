import numpy as np


def top(weights, percent):  # of each row only the strongest weights that hold so much of it
    order = np.argsort(-weights, axis=1, kind="stable")
    ranked = np.take_along_axis(weights, order, 1).astype(float)
    needed = ranked.cumsum(1) - ranked < (percent / 100 - 1e-6) * ranked.sum(1, keepdims=True)
    kept = np.zeros(weights.shape, bool)
    np.put_along_axis(kept, order, needed, 1)
    return np.where(kept, weights, 0)
