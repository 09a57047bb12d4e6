"""Seats in a room, and whose may be given away when it is full.

A class of sixty behind one address joins within a second, and so may one visitor who wants all sixty seats for nothing. They
differ in what comes next: a phone listens at once. A seat where nobody listens and nothing was given is spare after a while;
and at once for somebody from another address, so that whoever takes seats keeps them from nobody else.
"""

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

UNHEARD = 10.0  # seconds that a new seat is kept for a phone that has yet to listen
AWAY = 120.0  # seconds that it is kept for one that has listened, and is in a pocket


@dataclass(eq=False)
class Person:
    """Somebody on a phone; the `token` is theirs only. They are here while a page of theirs listens."""

    id: str
    name: str
    token: str
    address: str = ""  # where they came from
    points: int = 0
    listening: int = 0
    was_heard: bool = False
    seen: float = field(default_factory=time.monotonic)  # when they came or were last heard

    def listens(self, step: int) -> None:
        """A page of theirs begins or ends to listen."""
        self.listening += step
        self.was_heard, self.seen = True, time.monotonic()


def spare(idle: Collection[Person], address: str) -> Person | None:
    """Whose seat may go to who comes from an address; `idle` are those who gave nothing yet, first those who came first."""
    silent = [one for one in idle if not one.listening]
    unheard = Counter(one.address for one in silent if not one.was_heard)
    now = time.monotonic()
    for one in silent:
        waited = now - one.seen > (AWAY if one.was_heard else UNHEARD)
        if waited or (not one.was_heard and unheard[one.address] > unheard[address] + 1):
            return one
    return None
