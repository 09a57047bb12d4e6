"""Long work as a generator: it yields the share done, 0 to 1, and returns its result."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def finished(steps: Generator[float, None, Result]) -> Result:
    """Run all steps, for those who neither show progress nor stop, and give the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value
