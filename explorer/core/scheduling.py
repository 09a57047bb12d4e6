"""The rules of scheduling: which work runs when. Rules implemented elsewhere name their module.

Every handler and endpoint has a kind of work (`MODEL` to `FETCHING`); Gradio's queue starts calls of a kind side by side, up to
the limit of the kind. It limits only what comes through it, which a POST to /gradio_api/run/... does not
(https://github.com/gradio-app/gradio/issues/6350). So rules 1 and 2 are applied inside a call (`page.blocks`,
`api.callers.bounded`), and the server's own addresses take the same places (`server.taking`, `server.rooms`).

1. A call that uses a model (`MODEL`) enters a fair queue (`core.fair_queue`), which gives `PLACES` places in order of arrival. A
   session holds one place at most. An address leaves a sixth of the places and a quarter of the queue to others, and a third of
   the places to calls with a session. Choosing a model (`LOADING`) keeps the order of its session, but needs no place.
2. Long work (`LONG_WORK`) enters a `FifoSemaphore` of its kind: WORKS of a kind run at once, on half of the cores, so that
   pictures can be drawn meanwhile (`limited`). It takes no place of rule 1.
3. A call that computes nothing (`AT_ONCE`) does not wait.
4. At most WAITING calls wait for a place of rule 1, and WAITING_WORKS for each semaphore of rule 2; further calls get a
   BusyError.
5. A call that waits in the fair queue is told its position every few seconds (`core.fair_queue`).
6. Waiting ends when the call is cancelled or its client has gone (`page.blocks`, `server.taking`, `api.callers`). The slow part
   that follows a picture ends when its session makes another call (`page.drawing`). Running long work ends at its next step when
   its client has gone, when Stop is pressed, or when the app shuts down (`core.jobs`).
7. A file over 1 MB is read in a process of its own (`core.apart`), FILE_READERS at once and one of each address.

Below these rules: waiting forward passes are batched, at most two batches at once (`bert.batcher`), and the threads of a pass
are limited (`core.process`). Above them: a rate limit for each address (`server.bounds`).
"""

import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from explorer.core.errors import BusyError
from explorer.core.limits import WAITING, WAITING_WORKS, WORKS
from explorer.core.process import half_the_cores

Item = TypeVar("Item")
Kind = dict[str, Any]
"""Gradio's options for the kind of a handler: its `concurrency_id`, and how many calls of it the queue starts at once."""

MODEL: Kind = {"concurrency_id": "model", "concurrency_limit": WAITING.most}
"""Uses a model. The limit is that of the fair queue's waiting calls, because Gradio's queue does not know sessions."""

LOADING: Kind = {"concurrency_id": "load", "concurrency_limit": None}
"""Loads a model, which may have to be downloaded first; other calls continue with theirs meanwhile."""

AT_ONCE: Kind = {"concurrency_id": "at once", "concurrency_limit": None}
"""Computes nothing. (With `queue=False`, past the queue, Gradio would not send changed states to the page.)"""

TRAINING: Kind = {"concurrency_id": "train", "concurrency_limit": WORKS.most}
MAPPING: Kind = {"concurrency_id": "map", "concurrency_limit": WORKS.most}  # starts without a button
FETCHING: Kind = {"concurrency_id": "fetch", "concurrency_limit": WORKS.most}
LONG_WORK = (TRAINING, MAPPING, FETCHING)

PLACES = 24  # calls answered at the same time: as many as two batches hold (see `bert.batcher`), and as many on their way
PAUSE = 0.5  # seconds between two checks whether the client still waits


class FifoSemaphore:
    """A semaphore for threads: places given in order of arrival, and to each visitor that is named one at a time."""

    def __init__(self, places: int, refusal: str = WAITING_WORKS.sentence) -> None:
        self._places, self._refusal = places, refusal
        self._changed = threading.Condition()
        self._held: list[str] = []  # the visitor of each place
        self._waiting: dict[object, str] = {}  # the visitor of each ticket, in order of arrival

    @contextmanager
    def place(self, go_on: Callable[[], None] = lambda: None, visitor: str = "") -> Iterator[None]:
        """Hold a place. While it waits, `go_on()` is called at intervals, and may raise to end the waiting.

        Raises BusyError when WAITING_WORKS wait already, or half as many of the same visitor.
        """
        self._take(go_on, visitor)
        try:
            yield
        finally:
            with self._changed:
                self._held.remove(visitor)
                self._changed.notify_all()

    def _take(self, go_on: Callable[[], None], visitor: str) -> None:
        ticket = object()
        with self._changed:
            most = WAITING_WORKS.most
            own = list(self._waiting.values()).count(visitor)
            if len(self._waiting) >= most or (visitor and own >= max(1, most // 2)):
                raise BusyError(self._refusal)
            self._waiting[ticket] = visitor
        try:
            while True:
                with self._changed:
                    if len(self._held) < self._places and ticket is self._next():
                        self._held.append(visitor)
                        return
                    self._changed.wait(PAUSE)
                go_on()
        finally:
            with self._changed:
                del self._waiting[ticket]
                self._changed.notify_all()

    def _next(self) -> object:
        """The first ticket whose visitor holds no place."""
        free = (ticket for ticket, visitor in self._waiting.items() if not visitor or visitor not in self._held)
        return next(free, None)


_long_work = {kind["concurrency_id"]: FifoSemaphore(WORKS.most) for kind in LONG_WORK}


def limited(handler: Callable, concurrency_id: str, go_on: Callable[[], None]) -> Callable:
    """A handler of long work, wrapped to wait for a place of its kind and to run on half of the cores; other handlers unchanged.

    `go_on()` raises when the client has gone.
    """
    if (semaphore := _long_work.get(concurrency_id)) is None:
        return handler

    @functools.wraps(handler)
    def run(*arguments: Any, **named: Any) -> Any:
        with semaphore.place(go_on), half_the_cores():
            return handler(*arguments, **named)

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Any]:
        with semaphore.place(go_on):
            yield from _step_by_step(handler(*arguments, **named))

    return run_on if inspect.isgeneratorfunction(handler) else run


def _step_by_step(steps: Generator[Item, None, None]) -> Iterator[Item]:
    """The steps, each run on half of the cores; set at every step because Gradio may run the next in another thread."""
    try:
        while True:
            with half_the_cores():
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step
    finally:
        steps.close()
