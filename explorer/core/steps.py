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
    """Yield `function(item)` for each item of `steps`, each made within `around()`; closing it closes `steps`.

    Returns the result of `steps`.
    """
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


def relay(work: Callable[[Callable[[Item], None]], Result], patience: float = 0.0) -> Generator[Item | None, None, Result]:
    """Run `work(report)` in its own thread; yields the latest report, such as a share, and None before the first one.

    Closing the generator stops the work at its next report, and waits up to `patience` seconds for it to end. Errors of the work
    are raised here.
    """
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

    thread = threading.Thread(target=run, name="long-work", daemon=True)
    thread.start()
    try:
        while not wait([result], timeout=PAUSE).done:
            yield last
        return result.result()
    finally:
        stopped.set()
        thread.join(patience)
