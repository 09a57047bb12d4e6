"""Trainings that run now, so that a button or a page somewhere else can stop them or wait for them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class _Job:
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


_running: dict[str, _Job] = {}


@contextmanager
def job(identifier: str) -> Iterator[threading.Event]:
    """While this lasts, `stop(identifier)` sets the event."""
    own = _running[identifier] = _Job()
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


def is_running(identifier: object) -> bool:
    """Whether a job of this id runs now."""
    return _find(identifier) is not None


def wait(identifier: object, seconds: float) -> None:
    """Return when no job of this id runs any more, or after so many seconds."""
    found = _find(identifier)
    if found is not None:
        found.over.wait(seconds)


def _find(identifier: object) -> _Job | None:
    return _running.get(identifier) if isinstance(identifier, str) else None
