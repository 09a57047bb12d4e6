"""A bounded number of places for long work of one kind: who comes when all are taken waits, and not too many may wait."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explorer.base.errors import BusyError
from explorer.base.limits import WAITING_WORKS, WORKS

PAUSE = 0.5  # seconds between two looks at whether somebody still waits for the result


class Places:
    """As many places as the limit says, given in the order in which they were asked for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = 0
        self._waiting: deque[object] = deque()

    @contextmanager
    def place(self, go_on: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Holds a place; `go_on()` is called now and then while waiting for one, and may raise what ends the waiting.

        Raises BusyError when too many wait already.
        """
        self._take(go_on)
        try:
            yield
        finally:
            with self._changed:
                self._taken -= 1
                self._changed.notify_all()

    def _take(self, go_on: Callable[[], None]) -> None:
        ticket = object()
        with self._changed:
            if len(self._waiting) >= WAITING_WORKS.most:
                raise BusyError(WAITING_WORKS.tell())
            self._waiting.append(ticket)
        try:
            while True:
                with self._changed:
                    if self._waiting[0] is ticket and self._taken < WORKS.most:
                        self._taken += 1
                        return
                    self._changed.wait(PAUSE)
                go_on()
        finally:
            with self._changed:
                self._waiting.remove(ticket)
                self._changed.notify_all()
