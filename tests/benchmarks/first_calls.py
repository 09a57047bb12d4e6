"""Fresh starts whose first calls come from eight threads at once: how many of them get no answer."""

from collections.abc import Iterator

from tests.benchmarks import Comparison
from tests.first_calls import CALLS, failures

STARTS = 40


def run() -> Iterator[Comparison]:
    """Count the calls without an answer, over all starts, and print each."""
    found = []
    for start in range(1, STARTS + 1):
        found += (failed := failures())
        print(f"start {start}: {len(failed)} of {CALLS} first calls got no answer", *failed, sep="\n  ", flush=True)
    yield Comparison("first-calls", "without an answer", "first calls", len(found), STARTS * CALLS, "", "ratio 0")
