"""The rules of scheduling: which work runs when. Rules implemented elsewhere name their module.

Kinds of work (`MODEL` to `FETCHING`): every handler and endpoint has one. Gradio's queue starts calls of a kind side by side,
up to the limit of the kind.

1. A call that uses a model (`MODEL`) enters a fair queue (`core.fair_queue`): at most `PLACES` of them run at once, in the
   order in which they came. A session has at most one of these places, so that a visitor who requests a hundred pictures
   delays nobody. Calls without a session count by their address, which gets at most two thirds of the places for them; and
   of all calls of an address, a sixth of the places and a quarter of the queue are kept free for others. Choosing a model
   (`LOADING`) keeps the order of its session, but needs no place.
2. Long work (`LONG_WORK`) enters a FIFO semaphore of its kind (`FifoSemaphore`): at most WORKS of a kind run at once, each
   on half of the cores, so that pictures can be drawn meanwhile (`limited`). It never takes a place of rule 1.
3. A call that computes nothing (`AT_ONCE`) does not wait.
4. Waiting is bounded: at most WAITING calls wait for a place of rule 1, and WAITING_WORKS for each semaphore of rule 2;
   further calls are refused with a BusyError. Gradio's own queue holds WAITING calls too (`app.launch`).
5. A call that waits in the fair queue is told its position every few seconds (`page.turns` has the interval).
6. Cancellation: waiting ends when the call is cancelled or its client has gone (rule 1: `page.blocks`, `server.taking`), or
   when `go_on` raises because the client has gone (rule 2: `api.callers`). The slow part that follows a picture ends at its
   next step when its session makes another call (`page.drawing`). Running long work checks at each step: it ends when its
   client has gone (`api.callers`), when Stop is pressed, or when the app shuts down (`core.jobs`). A place is given back
   however the work ends.
7. The rules hold for every kind of request. Gradio's queue limits only what comes through it, which a POST to
   /gradio_api/run/... does not (https://github.com/gradio-app/gradio/issues/6350); so rules 1 and 2 are applied inside the
   call (`page.blocks`, `api.callers.bounded`), and the server's own addresses take the same places (`server.taking`,
   `server.rooms`).
8. A file over 1 MB is read in a process of its own (`core.apart`), FILE_READERS at once and one of each address.

Below these rules: waiting forward passes are batched, at most two batches at once (`bert.batcher`), and the threads of a pass
are limited (`core.cores`). Above them: a rate limit for each address (`server.bounds`).
"""

import functools
import inspect
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from explorer.core.cores import half_the_cores
from explorer.core.errors import BusyError
from explorer.core.limits import WAITING, WAITING_WORKS, WORKS

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
    """A semaphore for threads, with WORKS places given in order of arrival."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = 0
        self._waiting: deque[object] = deque()

    @contextmanager
    def place(self, go_on: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold a place. While it waits, `go_on()` is called at intervals, and may raise to end the waiting.

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


_long_work: defaultdict[str, FifoSemaphore] = defaultdict(FifoSemaphore)  # by the id of the kind


def limited(handler: Callable, concurrency_id: str, go_on: Callable[[], None]) -> Callable:
    """A handler of long work, wrapped to wait for a place of its kind and to run on half of the cores; other handlers unchanged.

    `go_on()` raises when the client has gone.
    """
    if all(kind["concurrency_id"] != concurrency_id for kind in LONG_WORK):
        return handler
    semaphore = _long_work[concurrency_id]

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
