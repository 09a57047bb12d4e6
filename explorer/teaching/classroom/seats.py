"""Seats in a room, and which of them may be given away when the room is full.

A class of sixty behind one address joins within a second; a single visitor who takes all sixty seats looks the same. What
follows tells them apart: a phone starts listening at once. A seat that nobody listens on and that contributed nothing may
be given away after a while, and at once to a person from another address, so one address cannot block a room.
"""

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

UNHEARD = 10.0  # seconds that a new seat waits for its phone to start listening
AWAY = 120.0  # seconds that it waits for a phone that has stopped listening, such as one in a pocket


@dataclass(eq=False)
class Person:
    """A person on a phone, with a secret `token`. They count as present while a page of theirs listens."""

    id: str
    name: str
    token: str
    address: str = ""  # the client address
    points: int = 0
    listening: int = 0
    was_heard: bool = False
    seen: float = field(default_factory=time.monotonic)  # when they joined, or last started or stopped listening

    def listens(self, step: int) -> None:
        """Count a page of theirs that starts (1) or stops (-1) listening."""
        self.listening += step
        self.was_heard, self.seen = True, time.monotonic()


def spare(idle: Collection[Person], address: str) -> Person | None:
    """The person whose seat may go to a newcomer from an address, or None. `idle` contributed nothing; the oldest come first."""
    silent = [person for person in idle if not person.listening]
    unheard = Counter(person.address for person in silent if not person.was_heard)
    now = time.monotonic()
    for person in silent:
        waited = now - person.seen > (AWAY if person.was_heard else UNHEARD)
        if waited or (not person.was_heard and unheard[person.address] > unheard[address] + 1):
            return person
    return None
