"""Who is answered when of those who ask a model; `base.scheduling` has the rules."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from explorer.base.errors import BusyError
from explorer.base.limits import WAITING
from explorer.base.scheduling import PAUSE

PATIENCE = 3.0
GONE = "Nobody waits for the answer any more; ask again."


class Turn(asyncio.Lock):
    """The turn of one session, held by the call that waits for a place or is answered, and how many calls want it next."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = 0

    async def acquire(self) -> Literal[True]:
        """Take it, after those who asked before."""
        self.wanted += 1
        try:
            return await super().acquire()
        finally:
            self.wanted -= 1


async def nobody_left() -> bool:
    """Of a call whose caller cannot leave."""
    return False


@dataclass(eq=False, frozen=True)
class Call:
    """One that wants a place: from where, whether with a session, whom to tell its position, and who knows if it is gone."""

    address: str = ""
    has_session: bool = True
    tell: Callable[[int], None] = lambda position: None
    is_gone: Callable[[], Awaitable[bool]] = nobody_left


class FairQueue:
    """Places for calls, given in the order in which they came, but so that one address leaves some to the others."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._kept = places // 6  # for addresses that hold less than that
        self._alone = max(1, places - places // 3)  # that an address may hold with calls without a session
        self._held: Counter[str] = Counter()  # by address
        self._held_alone: Counter[str] = Counter()
        self._waiting: dict[Call, asyncio.Future[None]] = {}  # in the order in which they came
        self._sessions: WeakKeyDictionary[Any, Turn] = WeakKeyDictionary()

    def __len__(self) -> int:
        """How many calls wait for a place."""
        return len(self._waiting)

    def of(self, session: Any) -> Turn:
        """What the call of a session holds while it waits and is answered. Sessions are kept by weak references."""
        return self._sessions.setdefault(session, Turn())

    @asynccontextmanager
    async def place(self, call: Call | None = None) -> AsyncIterator[None]:
        """Hold a place. While it waits, the call is told its position now and then; 1 is the next.

        Raises BusyError when too many wait already, of all or of its address, and when its caller has left.
        """
        call = call or Call()
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
            if place.done():  # it has come in the meantime
                self._give_back(call)
            raise
        finally:
            self._waiting.pop(call, None)

    @property
    def patience(self) -> float:
        """Seconds of waiting until a call is told its position, and between two times."""
        return PATIENCE

    async def _wait(self, call: Call, place: asyncio.Future[None]) -> None:
        waited = 0.0
        while not (await asyncio.wait({place}, timeout=min(PAUSE, self.patience)))[0]:
            if await call.is_gone():
                raise BusyError(GONE)
            waited += min(PAUSE, self.patience)
            if waited >= self.patience and not place.done():
                waited = 0.0
                call.tell(list(self._waiting).index(call) + 1)

    def _hand_out(self) -> None:
        """Give free places to those who wait, first to addresses that hold the fewest."""
        while found := [call for call in self._waiting if self._may(call)]:
            call = min(found, key=lambda one: self._held[one.address])  # the first of them
            self._held[call.address] += 1
            self._held_alone[call.address] += not call.has_session
            self._waiting.pop(call).set_result(None)

    def _may(self, call: Call) -> bool:
        free = self._places - self._held.total()
        share = self._held[call.address] < self._kept or free > self._kept
        alone = call.has_session or self._held_alone[call.address] < self._alone
        return free > 0 and share and alone

    def _give_back(self, call: Call) -> None:
        self._held[call.address] -= 1
        self._held_alone[call.address] -= not call.has_session
        self._held += Counter()  # without those who hold nothing
        self._held_alone += Counter()
        self._hand_out()
