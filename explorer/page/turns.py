"""Who is answered when: the calls of one session in their order, and of all sessions no more at once than a model can use."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from explorer.api.gradio_seams import SessionState

PATIENCE = 3.0  # seconds of waiting until a person is told, and between two times


class Turns:
    """A place for each call, given in the order of asking; a session takes one at a time, however much it asks for."""

    def __init__(self, places: int) -> None:
        self._free = asyncio.Semaphore(places)
        self._waiting: list[asyncio.Future] = []
        self._sessions: WeakKeyDictionary[SessionState, asyncio.Lock] = WeakKeyDictionary()

    def __len__(self) -> int:
        """How many calls wait for a place."""
        return len(self._waiting)

    def of(self, session: SessionState) -> asyncio.Lock:
        """Held by the call of a session that is answered."""
        return self._sessions.setdefault(session, asyncio.Lock())

    @asynccontextmanager
    async def place(self, tell: Callable[[int], None]) -> AsyncIterator[None]:
        """Holds a place; while it waits for one, `tell(number)` says now and then the how-manieth it is."""
        if self._free.locked():
            await self._wait(tell)
        else:
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    async def _wait(self, tell: Callable[[int], None]) -> None:
        place = asyncio.ensure_future(self._free.acquire())
        self._waiting.append(place)
        try:
            while not (await asyncio.wait({place}, timeout=PATIENCE))[0]:
                tell(self._waiting.index(place) + 1)
        except asyncio.CancelledError:
            if not place.cancel():  # it has come in the meantime
                self._free.release()
            raise
        finally:
            self._waiting.remove(place)
