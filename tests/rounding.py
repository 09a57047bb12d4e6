"""How far apart two ways of computing the same float32 numbers may be, on any processor."""

import numpy as np

STEPS = 256  # a sum of n terms rounds by at most n steps and typically by √n; each random layer multiplies that by a small factor


def assert_same_but_for_rounding(found, wanted):
    """The numbers differ by at most STEPS machine epsilons (3e-5) of the largest: processors add up in different orders."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    largest = float(np.abs(wanted).max(initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=STEPS * np.finfo(np.float32).eps * largest)
