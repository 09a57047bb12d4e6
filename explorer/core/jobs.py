"""Running jobs, mostly trainings, so that a button or a page elsewhere can stop them or wait for them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Job:
    def __init__(self) -> None:
        self.stop, self.over = threading.Event(), threading.Event()


running: dict[str | None, _Job] = {}
_closing = threading.Event()  # the app is shutting down: new jobs are asked to stop at once


@contextmanager
def job(identifier: str) -> Iterator[threading.Event]:
    """A running job; the event is set when `stop(identifier)` is called."""
    own = running[identifier] = _Job()
    if _closing.is_set():
        own.stop.set()
    try:
        yield own.stop
    finally:
        running.pop(identifier, None)
        own.over.set()


def stop(identifier: str | None) -> bool:
    """Ask a job to end with what it has so far; False when there is no such job."""
    if found := running.get(identifier):
        found.stop.set()
    return found is not None


def wait(identifier: str | None, seconds: float) -> None:
    """Return when no job of this id is running, or after so many seconds."""
    if found := running.get(identifier):
        found.over.wait(seconds)


def stop_all(seconds: float) -> bool:
    """Ask all jobs, also future ones, to end with what they have; returns whether all ended within so many seconds."""
    _closing.set()
    end = time.monotonic() + seconds
    jobs = list(running.values())
    for own in jobs:
        own.stop.set()
    return all(own.over.wait(max(0.0, end - time.monotonic())) for own in jobs)
