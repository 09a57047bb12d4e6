"""What runs now for somebody, trainings above all, so that a button or a page somewhere else can stop it or wait for it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class _Job:
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


_running: dict[str, _Job] = {}
_closing = threading.Event()  # the app ends: what begins now is asked to stop at once


@contextmanager
def job(identifier: str) -> Iterator[threading.Event]:
    """While this lasts, `stop(identifier)` sets the event."""
    own = _running[identifier] = _Job()
    if _closing.is_set():
        own.stop.set()
    try:
        yield own.stop
    finally:
        _running.pop(identifier, None)
        own.over.set()


def stop(identifier: object) -> bool:
    """Ask a job to end with what it has; False when there is none of this id."""
    found = _find(identifier)
    if found is not None:
        found.stop.set()
    return found is not None


def running() -> int:
    """How many jobs there are."""
    return len(_running)


def is_running(identifier: object) -> bool:
    """Whether a job of this id runs now."""
    return _find(identifier) is not None


def wait(identifier: object, seconds: float) -> None:
    """Return when no job of this id runs any more, or after so many seconds."""
    found = _find(identifier)
    if found is not None:
        found.over.wait(seconds)


def stop_all(seconds: float) -> bool:
    """Ask all jobs, those to come too, to end with what they have; whether all had ended within so many seconds."""
    _closing.set()
    end = time.monotonic() + seconds
    running = list(_running.values())
    for own in running:
        own.stop.set()
    return all(own.over.wait(max(0.0, end - time.monotonic())) for own in running)


def _find(identifier: object) -> _Job | None:
    return _running.get(identifier) if isinstance(identifier, str) else None
