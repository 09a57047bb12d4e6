"""The number of threads for a computation."""

import functools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from explorer.core.errors import InputError
from explorer.core.lazy import joblib

DEVICE, THREADS = "BERT_EXPLORER_DEVICE", "BERT_EXPLORER_THREADS"  # environment variables
Result = TypeVar("Result")
MOST = 16  # more threads gain little for a BERT on a few hundred pieces


@functools.cache
def cores() -> int:
    """The number of threads: the environment's, or the cores available to this process, at most MOST."""
    return int(os.environ.get(THREADS) or min(joblib.cpu_count(), MOST))


def check_threads(given: str) -> None:
    """Raise InputError unless the text is a valid number of threads or ''."""
    if given and not (given.isascii() and given.isdecimal() and 0 < int(given) <= 4 * MOST):
        raise InputError(f"The number of threads is a whole number from 1 to {4 * MOST}, and not {given[:20]!r}.")


def half_the_cores() -> AbstractContextManager:
    """Context manager: this thread computes on half of the cores, and leaves the rest to other calls."""
    return _libraries("torch" in sys.modules).limit(limits=max(1, cores() // 2), user_api="openmp")


_another = ThreadPoolExecutor(1, "another")  # one for the process, since the C library keeps memory for each thread


def twice(work: Callable[[], Result]) -> list[Result]:
    """The results of `work` run here and, unless it is busy, in another thread at the same time, each on half of the cores."""

    def on_half() -> Result:
        with half_the_cores():
            return work()

    there = _another.submit(on_half)
    here = on_half()
    return [here] if there.cancel() else [here, there.result()]


@functools.cache
def _libraries(with_torch: bool) -> ThreadpoolController:
    """The thread pools to limit; torch's is missing until torch is loaded."""
    return ThreadpoolController()
