"""All rooms of this process, kept in memory and closed when their time is over."""

import time

from explorer.bert import checkpoints
from explorer.core.errors import BusyError, InputError
from explorer.core.hosts import MINUTE, Recent
from explorer.core.limits import ROOMS, VISITOR_ROOMS
from explorer.teaching.classroom import names
from explorer.teaching.classroom.room import Room

EMPTY = 10 * MINUTE  # seconds without anybody, after which a room closes
ALONE = 45 * MINUTE  # seconds without a teacher
LONGEST = 240 * MINUTE  # seconds until a room ends by itself
MISSES = 30  # wrong words a minute from one address, which may be a whole school's
NO_ROOM = "No open room has that word. Check the word, or ask your teacher whether the room is still open."
TOO_MANY = "Too many wrong words came from your address. Wait a minute."


class Rooms:
    """The open rooms, by their words."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}
        self._misses = Recent()  # wrong words, by address

    def open(self, address: str = "") -> Room:
        """Open a room. Raises BusyError if there are too many, in all or from this address."""
        self.sweep()
        if len(self._rooms) >= ROOMS.most:
            raise BusyError(ROOMS.tell())
        if sum(room.address == address for room in self._rooms.values()) >= VISITOR_ROOMS.most:
            raise BusyError(VISITOR_ROOMS.tell())
        room = Room(names.new_word(self._rooms), checkpoints.default_name(), address)
        self._rooms[room.word] = room
        return room

    def find(self, word: str, address: str = "", token: str = "") -> Room:
        """The room of a word, however it is typed. Raises InputError, and BusyError for an address that tries many words.

        A person's token always finds the room, so that others behind the same address cannot lock that person out.
        """
        self.sweep()
        room = self._rooms.get(names.as_word(word))
        if room and room.knows(token):
            return room
        if self._misses.count(address) >= MISSES:
            raise BusyError(TOO_MANY)
        if room:
            return room
        self._misses.add(address)
        raise InputError(NO_ROOM)

    def end(self, room: Room) -> None:
        self._rooms.pop(room.word, None)
        room.end()

    def sweep(self) -> None:
        """Close the rooms whose time is over."""
        for room in list(self._rooms.values()):
            if is_over(room, time.monotonic()):
                self.end(room)


def is_over(room: Room, now: float) -> bool:
    """Whether a room must close: unused for a while, or open for the longest time allowed."""
    here = any(person.listening for person in room.people.values())
    idle = 0.0 if room.teacher_listening else now - room.used
    return idle > (ALONE if here else EMPTY) or now - room.began > LONGEST
