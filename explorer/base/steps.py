"""Long work as a generator: it yields the share done, 0 to 1, and returns its result."""

from collections.abc import Callable, Generator
from typing import TypeVar

Step = TypeVar("Step")
Other = TypeVar("Other")
Result = TypeVar("Result")


def mapped(steps: Generator[Step, None, Result], function: Callable[[Step], Other]) -> Generator[Other, None, Result]:
    """The same work, yielding function(step) for every step."""
    while True:
        try:
            step = next(steps)
        except StopIteration as done:
            return done.value
        yield function(step)


def finished(steps: Generator[Step, None, Result]) -> Result:
    """Run all steps, for those who neither show progress nor stop, and give the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value
