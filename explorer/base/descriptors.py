"""How many files and connections this process may have open."""

import contextlib

try:
    import resource
except ImportError:  # of another system, which has no such limit
    resource = None  # type: ignore[assignment]  # mypy looks at one system, which has it

ENOUGH = 65_536


def most_files() -> int | None:
    """The limit now; None for none."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if most == resource.RLIM_INFINITY else most


def raise_most_files() -> None:
    """Raise it as far as this account may, since many systems begin with 1,024, of which a class takes half."""
    if resource is None:
        return
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if now != resource.RLIM_INFINITY and now < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has another limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
