"""Settings of this process: its threads, its open files, and memory that it gives back to the system.

The C library keeps freed memory in heaps per thread, which passes of different lengths fragment: after some thousand calls, 379
of 753 MB were unused, while the memory in use stayed constant.
"""

import contextlib
import ctypes
import functools
import sys
from contextlib import AbstractContextManager
from time import sleep

from threadpoolctl import ThreadpoolController

from explorer.core.lazy import joblib

try:
    import resource as resource  # for other modules too
except ImportError:  # not on this system, which has no such limit
    resource = None  # type: ignore[assignment]  # mypy looks at one system, which has it

DEVICE = "BERT_EXPLORER_DEVICE"  # environment variable
MOST_CORES = 16  # more threads gain little for a BERT on a few hundred pieces
ENOUGH = 65_536  # open files and connections
EVERY = 10.0  # seconds between two times that memory is given back


@functools.cache
def cores() -> int:
    """The number of threads: the cores available to this process, or LOKY_MAX_CPU_COUNT if that is less, at most MOST_CORES."""
    return min(joblib.cpu_count(), MOST_CORES)


def half_the_cores() -> AbstractContextManager:
    """Context manager: this thread computes on half of the cores, and leaves the rest to other calls."""
    return _libraries("torch" in sys.modules).limit(limits=max(1, cores() // 2), user_api="openmp")


@functools.cache
def _libraries(with_torch: bool) -> ThreadpoolController:
    """The thread pools to limit; torch's is missing until torch is loaded."""
    return ThreadpoolController()


def most_files() -> int | None:
    """The limit on open files and connections; None if there is none."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if most == resource.RLIM_INFINITY else most


def raise_most_files() -> None:
    """Raise the limit as far as allowed: many systems start with 1,024, of which a class uses half."""
    if (now := most_files()) is not None and now < ENOUGH:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS has another limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def give_back_memory() -> bool:
    """Return free memory to the system, in some hundredths of a second beside other threads; False where not supported."""
    try:
        trim = ctypes.CDLL(None).malloc_trim  # only glibc has it; most other libraries do not need it
    except (AttributeError, OSError, TypeError):
        return False
    trim(0)
    return True


def keep_giving_back_memory() -> None:
    """Give it back from time to time, where that is supported, for as long as the process runs."""
    while give_back_memory():
        sleep(EVERY)
