"""The rules of scheduling: which work runs when. Rules implemented elsewhere name their module.

Every handler and endpoint has a kind of work (`MODEL` to `FETCHING`); Gradio's queue starts calls of a kind side by side, up to
the limit of the kind. It limits only what comes through it, which a POST to /gradio_api/run/... does not
(https://github.com/gradio-app/gradio/issues/6350). So rules 1 and 2 are applied inside a call (`page.blocks`,
`api.callers.bound`), and the server's own addresses take the same places (`server.taking`, `server.rooms`).

1. A call that uses a model (`MODEL`) waits for one of `PLACES` places, in order of arrival. A session holds one place at most. An
   address leaves a sixth of the places and a quarter of the queue to others, and a third of the places to calls with a session.
   Choosing a model (`LOADING`) keeps the order of its session, but needs no place.
2. Long work (`LONG_WORK`) waits for a place of its kind: WORKS of a kind run at the same time, on half of the cores, so that
   pictures can be drawn meanwhile (`api.callers.bound`). It takes no place of rule 1.
3. A call that computes nothing (`AT_ONCE`) does not wait.
4. At most WAITING calls wait for a place of rule 1, and WAITING_WORKS for each kind of rule 2; further calls get a BusyError.
5. Waiting ends when the call is cancelled or its client has gone (`page.blocks`, `server.taking`, `api.callers`). The slow part
   that follows a picture ends when its session makes another call (`page.drawing`). Running long work ends at its next step when
   its client has gone, when Stop is pressed, or when the app shuts down (`core.jobs`).
6. A file over 1 MB is read in a process of its own (`core.apart`), FILE_READERS at a time and one per address.

Below these rules: waiting forward passes are batched, at most two batches at a time (`bert.batcher`), and the threads of a pass
are limited (`core.process`). Above them: a rate limit for each address (`server.bounds`).
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from explorer.core.errors import BusyError
from explorer.core.limits import WAITING, WORKS, Limit

Kind = dict[str, Any]
"""Gradio's options for the kind of a handler: its `concurrency_id`, and how many calls of it may run at the same time."""

MODEL: Kind = {"concurrency_id": "model", "concurrency_limit": WAITING.most}
"""Uses a model. The limit is that of the waiting calls, because Gradio's queue does not know sessions."""

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
GONE = "The page that asked has gone. Ask again."


class Turn(asyncio.Lock):
    """The lock of one session, held by the call that waits for a place or runs."""

    wanted = 0  # calls that wait for it

    async def acquire(self) -> Literal[True]:
        self.wanted += 1
        try:
            return await super().acquire()
        finally:
            self.wanted -= 1


@dataclass(eq=False, frozen=True)
class Call:
    """A call that needs a place: its address ('' if irrelevant), whether it has a session, and whether its caller is gone."""

    address: str = ""
    has_session: bool = True
    is_gone: Callable[[], Awaitable[bool]] | None = None  # None where it cannot leave


class Places:
    """A limited number of places, given first come, first served, but no address gets them all."""

    def __init__(self, places: int, waiting: Limit, refusal: str = "") -> None:
        self._places, self._most_waiting, self._refusal = places, waiting, refusal or waiting.tell()
        self._kept = max(1, places // 6)  # places reserved for addresses that hold fewer than this
        self._alone = max(1, places - places // 3)  # most places of an address for calls without a session
        self._lock = threading.Lock()
        self._held: list[Call] = []
        self._waiting: dict[Call, Future[None]] = {}  # in order of arrival
        self._sessions: WeakKeyDictionary[Any, Turn] = WeakKeyDictionary()

    def __len__(self) -> int:  # calls that wait for a place
        return len(self._waiting)

    def of(self, session: Any) -> Turn:
        """The lock of a session, kept by a weak reference to the session."""
        return self._sessions.setdefault(session, Turn())

    @asynccontextmanager
    async def place(self, call: Call) -> AsyncIterator[None]:
        """Hold a place. Raises BusyError if too many calls wait, in all or from its address, or if its caller has left."""
        if call.is_gone and await call.is_gone():
            raise BusyError(GONE)
        with self._ask(call) as given:
            waited = asyncio.wrap_future(given)
            while not given.done():
                await asyncio.wait({waited}, timeout=PAUSE)
                if not given.done() and call.is_gone and await call.is_gone():
                    raise BusyError(GONE)
            yield

    @contextmanager
    def place_of_thread(self, go_on: Callable[[], None] = lambda: None, address: str = "") -> Iterator[None]:
        """Hold a place in a thread. While it waits, `go_on()` is called at intervals, and may raise to end the waiting."""
        with self._ask(Call(address)) as given:
            while not wait([given], PAUSE).done:
                go_on()
            yield

    @contextmanager
    def _ask(self, call: Call) -> Iterator[Future[None]]:
        """A future that is done as soon as the call has a place, which is given back at the end. Raises BusyError."""
        with self._lock:
            most, own = self._most_waiting.most, sum(other.address == call.address for other in self._waiting)
            if len(self) >= most or (call.address and own >= most - most // 4):
                raise BusyError(self._refusal)
            given: Future[None] = Future()
            self._waiting[call] = given
            self._hand_out()
        try:
            yield given
        finally:
            with self._lock:
                if self._waiting.pop(call, None) is None:
                    self._held.remove(call)
                self._hand_out()

    def _hand_out(self) -> None:
        """Give free places to waiting calls, first to addresses that hold the fewest."""
        while found := [call for call in self._waiting if self._may(call)]:
            call = min(found, key=lambda call: len(self._calls_of(call.address)))  # the earliest of them
            self._held.append(call)
            self._waiting.pop(call).set_result(None)

    def _calls_of(self, address: str) -> list[Call]:
        return [call for call in self._held if call.address == address]

    def _may(self, call: Call) -> bool:
        own, free = self._calls_of(call.address), self._places - len(self._held)
        share = not call.address or len(own) < self._kept or free > self._kept
        alone = call.has_session or sum(not other.has_session for other in own) < self._alone
        return free > 0 and share and alone
