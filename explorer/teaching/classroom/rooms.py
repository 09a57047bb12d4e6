"""All rooms of this process, kept in memory and closed when their time is over.

Other front ends may share the folder of runs: there lies an empty file for each room, touched for as long as it is open.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from explorer.bert import checkpoints
from explorer.core import disk
from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.hosts import MINUTE, Recent
from explorer.core.limits import ROOMS, VISITOR_ROOMS
from explorer.teaching.classroom import names
from explorer.teaching.classroom.room import Room

FOLDER = "rooms"  # within the folder of runs
EMPTY = 10 * MINUTE  # seconds without anybody, after which a room closes
ALONE = 45 * MINUTE  # seconds without a teacher
LONGEST = 240 * MINUTE  # seconds until a room ends by itself
MISSES = 30  # wrong words a minute from one address, which may be a whole school's
NO_ROOM = "There is no such room; look at the word once more, or ask your teacher whether it is still open."
TOO_MANY = "Too many wrong words came from here; wait a minute."
ELSEWHERE = (
    "This room is open on another front end of this app, to which the proxy did not lead you; try again, or ask whoever runs it "
    "to let requests of rooms go on to the next front end."
)


class ElsewhereError(ExplorerError):
    """Another front end has the room; a proxy may ask there."""


class Rooms:
    """The open rooms, by their words."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}
        self._misses = Recent()  # wrong words, by address
        self._elsewhere = Elsewhere(forgotten=EMPTY + 2 * MINUTE)
        self._told = 0.0  # when the other front ends were last told what is open here

    def open(self, address: str = "") -> Room:
        """Open a room. Raises BusyError if there are too many, in all or from this address."""
        self.sweep()
        if len(self._rooms) >= ROOMS.most:
            raise BusyError(ROOMS.tell())
        if sum(room.address == address for room in self._rooms.values()) >= VISITOR_ROOMS.most:
            raise BusyError(VISITOR_ROOMS.tell())
        while self._elsewhere.has(word := names.new_word(self._rooms)):
            pass
        room = Room(word, checkpoints.default_name(), address)
        self._rooms[room.word] = room
        self._elsewhere.tell([room.word])
        return room

    def find(self, word: str, address: str = "", token: str = "") -> Room:
        """The room of a word, however it is typed. Raises InputError, and BusyError for who tries one word after another.

        Who has a token of the room always finds it: others behind the same address lock nobody out of a seat. Raises
        ElsewhereError for a room of another front end.
        """
        self.sweep()
        word = names.as_word(word)
        room = self._rooms.get(word)
        if room and room.knows(token):
            return room
        if self._misses.count(address) >= MISSES:
            raise BusyError(TOO_MANY)
        if room:
            return room
        if self._elsewhere.has(word):
            raise ElsewhereError(ELSEWHERE)
        self._misses.add(address)
        raise InputError(NO_ROOM)

    def end(self, room: Room) -> None:
        if self._rooms.pop(room.word, None):
            self._elsewhere.forget(room.word)
        room.end()

    def sweep(self) -> None:
        """Close the rooms whose time is over."""
        for room in list(self._rooms.values()):
            if is_over(room, time.monotonic()):
                self.end(room)
        if self._rooms and time.monotonic() - self._told > MINUTE:
            self._told = time.monotonic()
            self._elsewhere.tell(self._rooms)


def is_over(room: Room, now: float) -> bool:
    """Whether a room must close: unused for a while, or open for the longest time allowed."""
    here = any(person.listening for person in room.people.values())
    idle = 0.0 if room.teacher_listening else now - room.used
    return idle > (ALONE if here else EMPTY) or now - room.began > LONGEST


class Elsewhere:
    """What this front end tells the others of its rooms, and what they tell.

    A room that nobody has touched for `forgotten` seconds was left by a process that was killed. Where the folder cannot
    be used, each front end knows of its own rooms only.
    """

    def __init__(self, forgotten: float) -> None:
        self._forgotten = forgotten

    def tell(self, words: Iterable[str]) -> None:
        with contextlib.suppress(OSError, ExplorerError):
            place = _place()
            place.mkdir(mode=0o700, exist_ok=True)
            for word in words:
                (place / word).touch(mode=0o600)
                os.utime(place / word)

    def forget(self, word: str) -> None:
        with contextlib.suppress(OSError, ExplorerError):
            (_place() / word).unlink()

    def has(self, word: str) -> bool:
        """Whether a front end has a room of this word, as `names.as_word` gives it; '' is none."""
        if not word:
            return False
        try:
            return abs(time.time() - (_place() / word).stat().st_mtime) < self._forgotten
        except (OSError, ExplorerError):
            return False


def _place() -> Path:
    return disk.folder() / FOLDER
