"""One room: its people, its current activity, and what each screen may show of them."""

import asyncio
import hmac
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from explorer.core.errors import InputError
from explorer.core.limits import ROOM_PEOPLE
from explorer.teaching.classroom import names
from explorer.teaching.classroom.questions import Asked, Guess
from explorer.teaching.classroom.rounds import COLUMNS, NOT_NOW, Round
from explorer.teaching.classroom.tasks import POINTS, Solution, Task
from explorer.teaching.classroom.teaching import Teaching
from explorer.ui.pictures.numbers import Table

TEACHER = "teacher"
ACTIVITIES = {"round": Round, "teaching": Teaching, "exercise": Task}  # as screens call them
OUT = "You are no longer in this room; join it again."
UNHEARD = 10.0  # seconds that a new seat waits for its phone to start listening
AWAY = 120.0  # seconds that it waits for a phone that has stopped listening, such as one in a pocket


@dataclass(eq=False)
class Person:
    """A person on a phone, with a secret `token`. They count as present while one of their pages listens."""

    id: str
    name: str
    token: str
    address: str = ""  # the client address
    points: int = 0
    listening: int = 0
    was_heard: bool = False
    seen: float = field(default_factory=time.monotonic)  # when they joined, or last started or stopped listening

    def listens(self, step: int) -> None:
        """Count one of their pages that starts (1) or stops (-1) listening."""
        self.listening += step
        self.was_heard, self.seen = True, time.monotonic()


class Room:
    """A room. Only the event loop changes it, so it needs no locks; `changed` wakes the listening pages."""

    def __init__(self, word: str, model: str, address: str = "") -> None:
        self.word, self.model = word, model
        self.address = address  # the client address that opened it
        self.key = secrets.token_urlsafe(24)
        self.people: dict[str, Person] = {}
        self.is_open = True  # whether more people may join
        self.ended = False
        self.activity: Round | Teaching | Task | None = None
        self.begun = 0  # activities so far; the number of the latest
        self.past: list[Round | Teaching] = []
        self.tasks: dict[str, Task] = {}  # all that were given or solved, by name
        self.shown: bytes | None = None  # JSON of the view for followers; None if nothing is shown
        self.shown_number = 0
        self.showing: object | None = None  # token of the latest request to draw for followers; an older one is dropped
        self.teacher_listening = 0
        self.began = self.used = time.monotonic()
        self._news, self._moves = asyncio.Event(), asyncio.Event()

    # ---- People.

    def join(self, name: object, address: str = "") -> Person:
        """Add a person. Raises InputError if the room is full or closed, or the nickname is unfit."""
        if not self.is_open:
            raise InputError("This room is closed to new people. Ask your teacher to open it.")
        fit = names.nickname(name, [person.name for person in self.people.values()])
        if len(self.people) >= ROOM_PEOPLE.most:
            self._make_room(address)
        person = Person(secrets.token_hex(4), fit, secrets.token_urlsafe(18), address)
        self.people[person.id] = person
        self.changed()
        return person

    def _make_room(self, address: str) -> None:
        """Free a seat for a newcomer from an address. Raises InputError if there is none.

        A class of sixty behind one address joins within a second; a single visitor who takes all sixty seats looks the same. But
        a phone starts listening immediately. So a seat without a listener that contributed nothing is free after a while. For a
        person from another address it is free immediately, so that one address cannot block a room.
        """
        silent = [
            person for person in self.people.values() if not (person.listening or self._points(person) or self._has_given(person))
        ]
        unheard = Counter(person.address for person in silent if not person.was_heard)
        for person in silent:  # the oldest first
            waited = time.monotonic() - person.seen > (AWAY if person.was_heard else UNHEARD)
            if waited or (not person.was_heard and unheard[person.address] > unheard[address] + 1):
                self.remove(person.id)
                return
        raise InputError(ROOM_PEOPLE.tell())

    def person_of(self, token: str) -> Person | None:
        return next(
            (person for person in self.people.values() if hmac.compare_digest(person.token.encode(), token.encode())), None
        )

    def check_here(self, person: Person) -> None:
        """Raise InputError if the person was removed while their answer was being computed."""
        if person.id not in self.people:
            raise InputError(OUT)

    def is_teacher(self, token: str) -> bool:
        return hmac.compare_digest(self.key.encode(), token.encode())

    def knows(self, token: str) -> bool:
        return bool(token) and (self.is_teacher(token) or self.person_of(token) is not None)

    def remove(self, identifier: object) -> None:
        """Remove a person and everything they contributed."""
        if not isinstance(identifier, str) or self.people.pop(identifier, None) is None:
            return
        for activity in self._activities():
            activity.forget(identifier)
        self.changed()

    # ---- Rounds.

    def ask(self, question: Asked) -> None:
        """Begin a round; the activity before it ends."""
        self.begin(Round(question))

    def asked(self) -> Round:
        """The round whose answer is not revealed yet. Raises InputError."""
        if not isinstance(self.activity, Round) or self.activity.revealed:
            raise InputError(NOT_NOW)
        return self.activity

    def keep(self, person: Person, played: Round, guess: Guess) -> None:
        """Store a guess, which may be changed until they close. Raises InputError if the round is over."""
        self.check_here(person)
        if self.asked() is not played:
            raise InputError("That question is over. Answer the new one.")
        played.keep(person.id, guess)
        self.changed()

    def taught(self) -> Teaching:
        """The current teaching. Raises InputError if there is none."""
        if not isinstance(self.activity, Teaching):
            raise InputError("Nothing is being taught. Wait for your teacher.")
        return self.activity

    def show_guesses(self) -> None:
        """Show what the room guessed; no one may change a guess any more."""
        if isinstance(self.activity, Round):
            self.activity.shown = True
            self.changed()

    def reveal(self) -> None:
        """Show the guesses and the answer, and give the points; later calls do nothing."""
        if isinstance(played := self.activity, Round) and not played.revealed:
            played.shown = played.revealed = True
            for identifier in played.guesses:
                self.people[identifier].points += played.points(identifier)
            self.changed()

    def end_activity(self) -> None:
        """End the activity; the points stay, and what was answered is among the past until the room closes."""
        match self.activity:
            case Round(guesses=guesses) as played if guesses:
                played.settle()
                self.past.append(played)
            case Teaching() as taught:
                for person in self.people.values():
                    person.points += taught.points(person.id)
                self.past.append(taught)
                taught.head = None  # it is used no longer
        self.activity = None
        self.changed()

    def begin(self, activity: Round | Teaching) -> None:
        """Begin a round, or to collect examples; the activity before it ends."""
        self.end_activity()
        self.begun += 1
        activity.number = self.begun
        self.activity = activity
        self.changed()

    # ---- Exercises.

    def give(self, task: Task) -> None:
        """Give the class an exercise; the activity before it ends."""
        self.end_activity()
        self.activity = self._known(task)
        self.changed()

    def solve(self, person: Person, task: Task, solution: Solution) -> None:
        """Store a person's solution of an exercise, given or not; the first one earns points. Raises InputError."""
        self.check_here(person)
        solved = self._known(task).solved
        person.points += 0 if person.id in solved else POINTS
        solved[person.id] = solution
        self.changed()

    def _known(self, task: Task) -> Task:
        """The room's own task of that exercise."""
        if task.name not in self.tasks:
            self.begun += 1
            task.number = self.begun
        return self.tasks.setdefault(task.name, task)

    def record(self) -> Table:
        """All that was answered, given and tried until now, by nickname."""
        nicknames = self._names()
        done = sorted(self._activities(), key=lambda activity: activity.number)
        return Table.of(COLUMNS, [row for activity in done for row in activity.rows(nicknames)])

    def _activities(self) -> list[Round | Teaching | Task]:
        """All of the room until now, each once."""
        current = [] if self.activity is None or isinstance(self.activity, Task) else [self.activity]
        return [*self.past, *current, *self.tasks.values()]

    # ---- What screens show.

    def show(self, view: bytes | None) -> None:
        """Set the view that followers see; None for nothing."""
        if view == self.shown:
            return
        self.shown, self.shown_number = view, self.shown_number + 1
        self.changed()

    def end(self) -> None:
        self.ended = True
        self.changed()

    def changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
        self.moved()

    def moved(self) -> None:
        """Wake the teacher's pages only: a person starts or stops listening, which other pages do not show."""
        moves, self._moves = self._moves, asyncio.Event()
        moves.set()

    def upcoming(self, to_teacher: bool) -> asyncio.Event:
        """An event that is set at the next change that the teacher, or a person, may see."""
        return self._moves if to_teacher else self._news

    def for_teacher(self) -> dict[str, Any]:
        """What the teacher's page, and so the projector, may show."""
        people = [
            {"id": who, "name": one.name, "here": one.listening > 0, "points": self._points(one), "answered": self._is_done(one)}
            for who, one in self.people.items()
        ]
        nicknames = self._names()
        told = {"word": self.word, "open": self.is_open, "people": people}
        activity = self.activity
        for name, kind in ACTIVITIES.items():
            told[name] = activity.for_board(nicknames) if activity and isinstance(activity, kind) else None
        return told | {"exercises": [task.for_board(nicknames) for task in self.tasks.values()]}

    def for_person(self, person: Person) -> dict[str, Any]:
        """What one person's phone may show: of other people only what the projector shows, and only after the answer."""
        told: dict[str, Any] = {"word": self.word, "name": person.name, "points": self._points(person)}
        told["follow"] = self.shown_number if self.shown is not None else 0
        activity = self.activity
        for name, kind in ACTIVITIES.items():
            if activity and isinstance(activity, kind):
                told[name] = activity.for_person(person.id)
        return told

    def _names(self) -> dict[str, str]:
        return {person.id: person.name for person in self.people.values()}

    def _has_given(self, person: Person) -> bool:
        """Whether the room has an answer or example of this person."""
        return any(activity.has_of(person.id) for activity in self._activities())

    def _points(self, person: Person) -> int:
        return person.points + (self.activity.points(person.id) if isinstance(self.activity, Teaching) else 0)

    def _is_done(self, person: Person) -> bool:
        return self.activity is not None and self.activity.has_of(person.id)
