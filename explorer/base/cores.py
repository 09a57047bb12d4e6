"""How many threads a computation may use."""

import functools
import os
import sys
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

from explorer.base.errors import InputError
from explorer.base.lazy import joblib

DEVICE, THREADS = "BERT_EXPLORER_DEVICE", "BERT_EXPLORER_THREADS"  # of the environment
MOST = 16  # the passes of a BERT over a few hundred pieces gain little from more


@functools.cache
def cores() -> int:
    """The threads to compute with: as many as the environment says, or the cores that this process may use, at most MOST."""
    return int(os.environ.get(THREADS) or min(joblib.cpu_count(), MOST))


def check_threads(given: str) -> None:
    """Raise InputError when that is no number of threads; '' leaves it open."""
    if given and not (given.isascii() and given.isdecimal() and 0 < int(given) <= 4 * MOST):
        raise InputError(f"The number of threads is a whole number from 1 to {4 * MOST}, and not {given[:20]!r}.")


def half_the_cores() -> AbstractContextManager:
    """While it lasts, this thread computes on half of the cores: others look around on the rest."""
    return _libraries("torch" in sys.modules).limit(limits=max(1, cores() // 2), user_api="openmp")


@functools.cache
def _libraries(with_torch: bool) -> ThreadpoolController:
    """What there is to limit, which is not all before torch is loaded."""
    return ThreadpoolController()
