"""The fair queue for calls that use a model; `core.scheduling` has its rules."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from explorer.core.errors import BusyError
from explorer.core.limits import WAITING
from explorer.core.scheduling import PAUSE

PATIENCE = 3.0  # seconds of waiting before a call is told its position, and between two times
GONE = "Nobody waits for the answer any more; ask again."


class Turn(asyncio.Lock):
    """The lock of one session, held by the call that waits for a place or runs."""

    wanted = 0  # calls that wait for it

    async def acquire(self) -> Literal[True]:
        self.wanted += 1
        try:
            return await super().acquire()
        finally:
            self.wanted -= 1


async def nobody_left() -> bool:
    """Never gone: for calls whose caller cannot leave."""
    return False


@dataclass(eq=False, frozen=True)
class Call:
    """A call that needs a place: its address, whether it has a session, how to tell it its position, and whether it is gone."""

    address: str = ""
    has_session: bool = True
    tell: Callable[[int], None] = lambda position: None
    is_gone: Callable[[], Awaitable[bool]] = nobody_left


class FairQueue:
    """A limited number of places, given first come, first served, but no address gets them all."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._kept = places // 6  # places reserved for addresses that hold fewer than this
        self._alone = max(1, places - places // 3)  # most places of an address for calls without a session
        self._held: list[Call] = []
        self._waiting: dict[Call, asyncio.Future[None]] = {}  # in order of arrival
        self._sessions: WeakKeyDictionary[Any, Turn] = WeakKeyDictionary()

    def __len__(self) -> int:  # calls that wait for a place
        return len(self._waiting)

    def of(self, session: Any) -> Turn:
        """The lock of a session, kept by a weak reference to the session."""
        return self._sessions.setdefault(session, Turn())

    @asynccontextmanager
    async def place(self, call: Call) -> AsyncIterator[None]:
        """Context manager that holds a place. While it waits, the call is told its position at intervals; 1 is the next.

        Raises BusyError if too many calls wait already, in all or from its address, or if its caller has left.
        """
        await self._take(call)
        try:
            yield
        finally:
            self._give_back(call)

    async def _take(self, call: Call) -> None:
        if await call.is_gone():
            raise BusyError(GONE)
        own = sum(other.address == call.address for other in self._waiting)
        if len(self) >= WAITING.most or own >= WAITING.most - WAITING.most // 4:
            raise BusyError(WAITING.tell())
        self._waiting[call] = place = asyncio.get_running_loop().create_future()
        self._hand_out()
        try:
            if not place.done():
                await self._wait(call, place)
        except BaseException:
            if place.done():  # the place was given in the meantime
                self._give_back(call)
            raise
        finally:
            self._waiting.pop(call, None)

    async def _wait(self, call: Call, place: asyncio.Future[None]) -> None:
        waited = 0.0
        while not (await asyncio.wait({place}, timeout=PAUSE))[0]:
            if await call.is_gone():
                raise BusyError(GONE)
            waited += PAUSE
            if waited >= PATIENCE and not place.done():
                waited = 0.0
                call.tell(list(self._waiting).index(call) + 1)

    def _hand_out(self) -> None:
        """Give free places to waiting calls, first to addresses that hold the fewest."""
        while found := [call for call in self._waiting if self._may(call)]:
            call = min(found, key=lambda call: len(self._held_by(call.address)))  # the earliest of them
            self._held.append(call)
            self._waiting.pop(call).set_result(None)

    def _held_by(self, address: str) -> list[Call]:
        return [call for call in self._held if call.address == address]

    def _may(self, call: Call) -> bool:
        own, free = self._held_by(call.address), self._places - len(self._held)
        share = len(own) < self._kept or free > self._kept
        alone = call.has_session or sum(not other.has_session for other in own) < self._alone
        return free > 0 and share and alone

    def _give_back(self, call: Call) -> None:
        self._held.remove(call)
        self._hand_out()
