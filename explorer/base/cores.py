"""How many threads a computation may use."""

import functools

MOST = 16  # the passes of a BERT over a few hundred pieces gain little from more


@functools.cache
def cores() -> int:
    """The cores that this process may use, of a container those of its quota, but no more than MOST."""
    from joblib import cpu_count  # slow to import

    return min(cpu_count(), MOST)
