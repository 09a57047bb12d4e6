"""Long work as a generator: it yields its progress, usually a share from 0 to 1, and returns its result."""

import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any, ParamSpec, TypeVar

Item = TypeVar("Item")
Other = TypeVar("Other")
Result = TypeVar("Result")
Given = ParamSpec("Given")
Around = Callable[[], AbstractContextManager[object]]

PAUSE = 0.2  # seconds between two checks of the progress


class Stopped(Exception):
    """Raised inside the work by `report` when its result is no longer needed."""


def finished(steps: Generator[object, None, Result]) -> Result:
    """Run all steps without progress or stopping. Returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def in_one_call(in_steps: Callable[Given, Generator[object, None, Result]]) -> Callable[Given, Result]:
    """The function that takes the arguments of another one, runs all its steps, and returns their result."""

    @functools.wraps(in_steps)
    def run(*arguments: Given.args, **named: Given.kwargs) -> Result:
        return finished(in_steps(*arguments, **named))

    run.__name__ = in_steps.__name__.removesuffix("_in_steps")
    return run


def map_steps(
    steps: Generator[Item, None, Result], function: Callable[[Item], Other], around: Around = nullcontext
) -> Generator[Other, None, Result]:
    """Yield `function(item)`, made within `around()`, for the items of `steps`, and return their result. Closing closes them."""
    with closing(steps):
        while True:
            try:
                with around():
                    item = next(steps)
            except StopIteration as done:
                return done.value
            yield function(item)


def within(handler: Callable, around: Around, each: Around = nullcontext) -> Callable:
    """A handler that runs within `around()`; if it is a generator function, each of its steps within `each()`."""

    @functools.wraps(handler)
    def run(*arguments: Any, **named: Any) -> Any:
        with around(), each():
            return handler(*arguments, **named)

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Any]:
        with around():
            yield from map_steps(handler(*arguments, **named), lambda step: step, each)

    return run_on if inspect.isgeneratorfunction(handler) else run


def relay(work: Callable[[Callable[[Item], None]], Result]) -> Generator[Item | None, None, Result]:
    """Run `work(report)` in a thread; yields its last report, or None. Closing stops it at the next one. Raises its errors."""
    last: Item | None = None
    stopped = threading.Event()
    result: Future[Result] = Future()

    def report(step: Item) -> None:
        nonlocal last
        if stopped.is_set():
            raise Stopped
        last = step

    def run() -> None:
        try:
            result.set_result(work(report))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="long-work", daemon=True).start()
    try:
        while not wait([result], timeout=PAUSE).done:
            yield last
        return result.result()
    finally:
        stopped.set()
