"""The limit on open files and connections of this process."""

import contextlib

try:
    import resource
except ImportError:  # not on this system, which has no such limit
    resource = None  # type: ignore[assignment]  # mypy looks at one system, which has it

ENOUGH = 65_536


def most_files() -> int | None:
    """The current limit; None if there is none."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if most == resource.RLIM_INFINITY else most


def raise_most_files() -> None:
    """Raise the limit as far as allowed: many systems start with 1,024, of which a class uses half."""
    if resource is None:
        return
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if now != resource.RLIM_INFINITY and now < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has another limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
