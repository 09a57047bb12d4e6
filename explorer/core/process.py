"""Settings of this process: its open files, and memory that it gives back to the system.

The C library keeps freed memory in heaps per thread. Forward passes of different lengths fragment them, so that after some
thousand calls half of a process is unused memory: 379 of 753 MB were measured, while the memory in use stayed constant.
"""

import contextlib
import ctypes
import threading
import time

try:
    import resource
except ImportError:  # not on this system, which has no such limit
    resource = None  # type: ignore[assignment]  # mypy looks at one system, which has it

ENOUGH = 65_536  # open files and connections
EVERY = 10.0  # seconds between two checks of the memory
WORTH = 0.5  # seconds of CPU time since the last time, below which there is little to return


def most_files() -> int | None:
    """The limit on open files and connections; None if there is none."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if most == resource.RLIM_INFINITY else most


def raise_most_files() -> None:
    """Raise the limit as far as allowed: many systems start with 1,024, of which a class uses half."""
    if (now := most_files()) is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if now < wanted:
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
    """Return memory regularly from now on, after work and not while the app is idle."""
    threading.Thread(target=_watch, name="give-memory-back", daemon=True).start()


def _watch() -> None:
    worked = 0.0
    while True:
        if (now := time.process_time()) - worked > WORTH:
            if not give_back_memory():
                return
            worked = now
        time.sleep(EVERY)
