"""Routes of the classroom: opening and joining rooms, their news, and what teachers and people do, each by a token."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.fair_queue import Call
from explorer.core.hosts import visitor
from explorer.export import qr
from explorer.page.blocks import PageBlocks
from explorer.server.document import address_of
from explorer.server.exercises import solution_of, task_of, verdict_on
from explorer.server.join import join_address, join_routes
from explorer.server.login import behind_login
from explorer.server.refusals import refusal
from explorer.server.room_requests import FRESH, Body, answered, body_of, busy, over, token_of, who_asks
from explorer.server.room_teachers import teachers_actions
from explorer.server.taking import in_turn
from explorer.teaching.classroom import names
from explorer.teaching.classroom.room import OUT, Room
from explorer.teaching.classroom.rooms import ElsewhereError, Rooms
from explorer.teaching.classroom.seats import Person

HEARTBEAT = 2.0  # seconds between signs of life, for which assets/classroom/news.js listens
PAUSE = 0.1  # seconds between two messages: changes in between are sent together
PAGES = 4  # pages that one token may listen with
NOT_YOURS = "Only the teacher of this room may do that."


def room_routes(blocks: PageBlocks, host: str) -> list[Route]:
    """The routes, for an app that listens on `host`."""
    desk = Desk(blocks, host)
    return [
        *join_routes(),
        Route("/bx/rooms", behind_login(desk.open), methods=["POST"]),
        Route("/bx/rooms/{word}/join", desk.join, methods=["POST"]),
        Route("/bx/rooms/{word}/news", desk.news),
        Route("/bx/rooms/{word}/shown", desk.shown),
        Route("/bx/rooms/{word}/code.svg", desk.code),
        Route("/bx/rooms/{word}/{action}", desk.act, methods=["POST"]),
    ]


class Desk:
    """Handles all requests to the rooms of one app."""

    def __init__(self, blocks: PageBlocks, host: str) -> None:
        self._blocks, self._host, self.rooms = blocks, host, Rooms()
        self._teachers = teachers_actions(blocks, self.rooms)
        self._peoples: dict[str, Callable[[Room, Person, Body], Awaitable[Body]]] = {
            "guess": self._guess,
            "example": self._example,
            "try": self._try,
            "exercise": self._exercise,
            "take-back": self._take_back,
            "leave": self._leave,
        }

    async def open(self, request: Request) -> Response:
        """Open a room. Answers its word, the teacher's key, and the address for phones, "" if they cannot reach this machine.

        Whoever may open the page may open a room; to join one, its word is enough.
        """

        async def answer() -> Body:
            room = self.rooms.open(visitor(request.client))
            return {"word": room.word, "key": room.key, "address": join_address(request, self._host)}

        return await answered(answer)

    async def join(self, request: Request) -> Response:
        """Join under a nickname. Answers the person's name and token."""

        async def answer() -> Body:
            room = self._room(request)
            name = (await body_of(request)).get("name")
            person = room.join(names.suggestion() if name in (None, "") else name, visitor(request.client))
            return {"word": room.word, "name": person.name, "token": person.token}

        return await answered(answer)

    async def news(self, request: Request) -> Response:
        """Stream what a screen may show, now and after every change, as server-sent events."""
        if isinstance(room := self._room_or_refusal(request), Response):
            return room
        who = who_asks(request, room)
        if who is None:
            return over(403, OUT)
        if isinstance(who, Person) and who.listening >= PAGES:
            return refusal(429, f"This seat is open on {PAGES} pages already; close one.")
        headers = {**FRESH, "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(room, who), media_type="text/event-stream", headers=headers)

    async def shown(self, request: Request) -> Response:
        """Answer what the teacher shows, for screens that follow."""
        if isinstance(room := self._room_or_refusal(request), Response):
            return room
        if who_asks(request, room) is None:
            return refusal(403, OUT)
        if room.shown is None:
            return refusal(404, "Nothing is shown just now.")
        return Response(room.shown, media_type="application/json", headers=FRESH)

    async def code(self, request: Request) -> Response:
        """The room's address as a QR code; it contains no more than the board shows."""
        if isinstance(room := self._room_or_refusal(request), Response):
            return room
        made = qr.svg(f"{join_address(request, self._host) or address_of(request.scope) + 'join'}?room={room.word}")
        return Response(made, media_type="image/svg+xml", headers=FRESH)

    async def act(self, request: Request) -> Response:
        """Handle an action of the teacher or of a person in the room."""
        name = request.path_params["action"]

        async def answer() -> Body:
            room, body = self._room(request), await body_of(request)
            who = who_asks(request, room)
            if who is None:
                raise PermissionError(OUT)
            if isinstance(who, Person):
                if name in self._teachers:
                    raise PermissionError(NOT_YOURS)
                act = self._peoples.get(name)
                return await act(room, who, body) if act else _no_action()
            room.used = time.monotonic()
            teach = self._teachers.get(name)
            return await teach(room, body) if teach else _no_action()

        return await answered(answer)

    # ---- Actions of people.

    async def _guess(self, room: Room, person: Person, body: Body) -> Body:
        played, typed = room.asked(), names.word(body.get("guess"))
        room.keep(person, played, await run_in_threadpool(played.question.guess, typed))
        return {}

    async def _example(self, room: Room, person: Person, body: Body) -> Body:
        room.taught().add(person.id, body.get("label"), body.get("text"))
        room.changed()
        return {}

    async def _take_back(self, room: Room, person: Person, body: Body) -> Body:
        room.taught().take_back(body.get("number"), person.id)
        room.changed()
        return {}

    async def _try(self, room: Room, person: Person, body: Body) -> Body:
        taught = room.taught()
        text, meant = taught.check_try(person.id, body.get("text"), body.get("label"))
        answer = await in_turn(self._blocks, Call(person.address), lambda: taught.answer(text))
        room.check_here(person)
        taught.tried(person.id, *taught.check_try(person.id, text, meant), answer)  # again: others may have tried meanwhile
        room.changed()
        return {}

    async def _exercise(self, room: Room, person: Person, body: Body) -> Body:
        name = body.get("exercise")
        verdict = await verdict_on(self._blocks, Call(person.address), name, body.get("query"))
        if verdict.done:
            room.solve(person, await run_in_threadpool(task_of, name), solution_of(verdict))
        return {"done": verdict.done, "told": verdict.told}

    async def _leave(self, room: Room, person: Person, body: Body) -> Body:
        room.remove(person.id)
        return {}

    # ---- Finding the room, and listening to it.

    def _room(self, request: Request) -> Room:
        """The room that a request names. Raises ExplorerError."""
        return self.rooms.find(request.path_params["word"], visitor(request.client), token_of(request))

    def _room_or_refusal(self, request: Request) -> Room | Response:
        """The room that a request names, or the refusal if there is none."""
        try:
            return self._room(request)
        except BusyError as error:
            return busy(error)
        except ElsewhereError as error:
            return refusal(404, str(error))
        except ExplorerError as error:
            return over(404, str(error))

    async def _stream(self, room: Room, who: Person | str) -> AsyncIterator[str]:
        sent, spoken = "", time.monotonic()
        _listens(room, who, 1)
        try:
            while not room.ended and (isinstance(who, str) or who.id in room.people):
                upcoming = room.upcoming(to_teacher=isinstance(who, str))  # before the state is read, to miss no change
                told = room.for_person(who) if isinstance(who, Person) else room.for_teacher()
                if (written := json.dumps(told)) != sent:
                    yield f"data: {json.dumps(told | {'clock': time.monotonic()})}\n\n"  # by which screens count down
                    sent, spoken = written, time.monotonic()
                elif time.monotonic() >= spoken + HEARTBEAT:
                    self.rooms.sweep()
                    yield ": still here\n\n"
                    spoken = time.monotonic()
                await asyncio.sleep(PAUSE)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(upcoming.wait(), max(0, spoken + HEARTBEAT - time.monotonic()))
            yield f"data: {json.dumps({'over': 'This room is closed.' if room.ended else OUT})}\n\n"
        finally:
            _listens(room, who, -1)


# ---- Helpers.


def _listens(room: Room, who: Person | str, step: int) -> None:
    """Count a page that starts (1) or stops (-1) listening; the others see who is here."""
    if isinstance(who, Person):
        who.listens(step)
        room.moved()
        return
    room.teacher_listening += step
    room.used = time.monotonic()


def _no_action() -> Body:
    raise InputError("There is no such thing to do in a room.")
