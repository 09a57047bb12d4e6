"""Long work beside a handler that tells how it goes, and that ends when nobody waits for it any more."""

import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")
PAUSE = 0.2  # seconds between two looks at how it goes


class Stopped(Exception):
    """Raised inside the work by `report`, when its result is no longer wanted."""


def in_steps(work: Callable[[Callable[[float], None]], Result]) -> Generator[float | None, None, Result]:
    """Run `work(report)` in a thread of its own; yields the share it reported last, None while it has not.

    Closing the generator stops the work at its next report. What the work raises is raised here.
    """
    shares: list[float] = []
    wanted = threading.Event()
    wanted.set()
    done: queue.Queue[tuple[bool, object]] = queue.Queue(1)

    def report(share: float) -> None:
        if not wanted.is_set():
            raise Stopped
        shares.append(share)

    def run() -> None:
        try:
            done.put((True, work(report)))
        except BaseException as error:
            done.put((False, error))

    threading.Thread(target=run, name="long-work", daemon=True).start()
    try:
        while True:
            try:
                fine, result = done.get(timeout=PAUSE)
                break
            except queue.Empty:
                yield shares[-1] if shares else None
    finally:
        wanted.clear()
    if not fine:
        raise result
    return result
