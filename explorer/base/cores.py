"""How many threads a computation may use."""

import functools
import sys
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

MOST = 16  # the passes of a BERT over a few hundred pieces gain little from more


@functools.cache
def cores() -> int:
    """The cores that this process may use, of a container those of its quota, but no more than MOST."""
    from joblib import cpu_count  # slow to import

    return min(cpu_count(), MOST)


def half_the_cores() -> AbstractContextManager:
    """While it lasts, this thread computes on half of the cores: others look around on the rest."""
    return _libraries("torch" in sys.modules).limit(limits=max(1, cores() // 2), user_api="openmp")


@functools.cache
def _libraries(with_torch: bool) -> ThreadpoolController:
    """What there is to limit, which is not all before torch is loaded."""
    return ThreadpoolController()
