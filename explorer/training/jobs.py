"""Trainings that run now, so that a button somewhere else can stop them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_running: dict[str, threading.Event] = {}
_lock = threading.Lock()


@contextmanager
def job(identifier: str) -> Iterator[threading.Event]:
    """While this lasts, `stop(identifier)` sets the event."""
    event = threading.Event()
    with _lock:
        _running[identifier] = event
    try:
        yield event
    finally:
        with _lock:
            _running.pop(identifier, None)


def stop(identifier: object) -> bool:
    """Ask a job to end with what it has; False when there is none of this id."""
    with _lock:
        event = _running.get(identifier) if isinstance(identifier, str) else None
    if event is not None:
        event.set()
    return event is not None
