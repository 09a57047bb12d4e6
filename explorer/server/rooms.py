"""Routes of the classroom: the page on which phones join, opening and joining rooms, their news, and the actions in them.

Each person of a room, and its teacher, has a token.
"""

import asyncio
import contextlib
import inspect
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from explorer.api.callers import bound
from explorer.core.errors import InputError
from explorer.core.hosts import is_loopback, visitor
from explorer.core.paths import ASSETS
from explorer.core.scheduling import TRAINING, Call
from explorer.export import page_file, qr
from explorer.export.tables import csv_of
from explorer.page.blocks import PageBlocks
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server.lessons import verdict_on
from explorer.server.page import address_of
from explorer.server.refusals import Refused
from explorer.server.routes import FRESH, serve_text
from explorer.server.taking import in_turn
from explorer.teaching.classroom import names, showing
from explorer.teaching.classroom.room import OUT, TEACHER, Person, Room
from explorer.teaching.classroom.rooms import Rooms
from explorer.teaching.classroom.tasks import Solution, Task
from explorer.teaching.classroom.teaching import Teaching

HEARTBEAT = 2.0  # seconds between signs of life, for which assets/classroom/news.js listens
PAUSE = 0.1  # seconds between two messages: changes in between are sent together
NOT_YOURS = "Only the teacher of this room may do that."

Body = dict[str, Any]
Action = Callable[[Room, Body], Any]
PersonsAction = Callable[[Room, Person, Body], Any]


def room_routes(blocks: PageBlocks, host: str) -> list[Route]:
    """The routes, for an app that listens on `host`."""
    desk = Desk(blocks, host)
    return [
        Route("/join", serve_text(_page, "text/html")),
        Route("/bx/join.js", serve_text(_script, "text/javascript")),
        Route("/bx/join.css", serve_text(_style, "text/css")),
        Route("/bx/rooms", desk.open, methods=["POST"]),
        Route("/bx/rooms/{word}/join", desk.join, methods=["POST"]),
        Route("/bx/rooms/{word}/news", desk.news),
        Route("/bx/rooms/{word}/shown", desk.shown),
        Route("/bx/rooms/{word}/code.svg", desk.code),
        Route("/bx/rooms/{word}/{action}", desk.act, methods=["POST"]),
    ]


class Desk:
    """Handles all requests to the rooms of one app. Its handlers raise Refused and ExplorerError."""

    def __init__(self, blocks: PageBlocks, host: str) -> None:
        self._host, self.rooms = host, Rooms()
        self._teachers, self._peoples = teachers_actions(blocks, self.rooms), peoples_actions(blocks)

    async def open(self, request: Request) -> Response:
        """Open a room. Answers its word, the teacher's key, and the address for phones, "" if they cannot reach this machine.

        Anyone who may open the page may open a room; to join one, its word is enough.
        """
        room = self.rooms.open(visitor(request.client))
        return JSONResponse({"word": room.word, "key": room.key, "address": join_address(request, self._host)}, headers=FRESH)

    async def join(self, request: Request) -> Response:
        """Join under a nickname. Answers the person's name and token."""
        room = self._room(request)
        name = (await _body_of(request)).get("name")
        person = room.join(names.suggestion() if name in (None, "") else name, visitor(request.client))
        return JSONResponse({"word": room.word, "name": person.name, "token": person.token}, headers=FRESH)

    async def news(self, request: Request) -> Response:
        """Stream what a screen may show, now and after every change, as server-sent events."""
        room = self._room(request)
        who = _who_asks(request, room)
        headers = {**FRESH, "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(room, who), media_type="text/event-stream", headers=headers)

    async def shown(self, request: Request) -> Response:
        """Answer what the teacher shows, for screens that follow."""
        room = self._room(request)
        _who_asks(request, room)
        if room.shown is None:
            raise Refused(404, "Nothing is shown just now.")
        return Response(room.shown, media_type="application/json", headers=FRESH)

    async def code(self, request: Request) -> Response:
        """The room's address as a QR code; it contains no more than the board shows."""
        room = self._room(request)
        made = qr.svg(f"{join_address(request, self._host) or address_of(request.scope) + 'join'}?room={room.word}")
        return Response(made, media_type="image/svg+xml", headers=FRESH)

    async def act(self, request: Request) -> Response:
        name, room, body = request.path_params["action"], self._room(request), await _body_of(request)
        who = _who_asks(request, room)
        if isinstance(who, str):
            room.used = time.monotonic()
        elif name in self._teachers:
            raise Refused(403, NOT_YOURS)
        if name not in (self._teachers if isinstance(who, str) else self._peoples):
            raise InputError("A room has no such action.")
        done = self._teachers[name](room, body) if isinstance(who, str) else self._peoples[name](room, who, body)
        if inspect.isawaitable(done):
            done = await done
        room.changed()
        return JSONResponse(done or {}, headers=FRESH)

    # ---- Finding the room, and listening to it.

    def _room(self, request: Request) -> Room:
        """The room that a request names; one that is closed ends the listening of a screen, other refusals are retried."""
        try:
            return self.rooms.find(request.path_params["word"], visitor(request.client), _token_of(request))
        except InputError as error:
            raise Refused(404, str(error), over=True) from error

    async def _stream(self, room: Room, who: Person | str) -> AsyncIterator[str]:
        sent, spoken = "", time.monotonic()
        _listens(room, who, 1)
        try:
            while not room.ended and (isinstance(who, str) or who.id in room.people):
                upcoming = room.upcoming(to_teacher=isinstance(who, str))  # before the state is read, to miss no change
                told = room.for_person(who) if isinstance(who, Person) else room.for_teacher()
                if (written := json.dumps(told)) != sent:
                    yield f"data: {json.dumps(told)}\n\n"
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


# ---- The actions, by their names in addresses.


def teachers_actions(blocks: PageBlocks, rooms: Rooms) -> dict[str, Action]:
    """The actions of a teacher, after which all pages get the news. Each raises ExplorerError with a sentence for the board."""

    async def ask(room: Room, body: Body) -> None:
        room.ask(await in_turn(blocks, Call(room.address), lambda: showing.question_of(body)))

    return {
        "ask": ask,
        "record": lambda room, body: {"csv": csv_of(room.record())},
        "follow": lambda room, body: _follow(blocks, room, body),
        "give": _give,
        "train": _train,
        "guesses": lambda room, body: room.show_guesses(),
        "reveal": lambda room, body: room.reveal(),
        "stop": lambda room, body: room.end_activity(),
        "teach": lambda room, body: room.begin(Teaching.of(body.get("labels"), room.model)),
        "strike": lambda room, body: room.taught().take_back(body.get("number")),
        "remove": lambda room, body: room.remove(body.get("id")),
        "door": _door,
        "end": lambda room, body: rooms.end(room),
    }


async def _follow(blocks: PageBlocks, room: Room, body: Body) -> None:
    if not body.get("query"):
        room.showing = None
        room.show(None)
        return
    asked = body["query"], bool(body.get("hidden")), str(body.get("covered") or "")
    room.showing = turn = object()
    view = await in_turn(blocks, Call(room.address), lambda: showing.draw(*asked))
    if room.showing is turn:  # otherwise the teacher has moved on
        room.show(view)


async def _train(room: Room, body: Body) -> None:
    taught = room.taught()
    taught.begin()
    room.changed()
    try:
        examples = list(taught.examples)
        head, accuracy = await run_in_threadpool(bound(taught.learn, TRAINING["concurrency_id"]), examples)
        taught.store_head(head, accuracy, len(examples))
    finally:
        taught.busy = False
        room.changed()


async def _give(room: Room, body: Body) -> None:
    room.give(await run_in_threadpool(Task.of, body.get("exercise")))


def _door(room: Room, body: Body) -> None:
    room.is_open = bool(body.get("open"))


def peoples_actions(blocks: PageBlocks) -> dict[str, PersonsAction]:
    """The actions of a person in a room. Each raises ExplorerError with a sentence for the phone."""

    async def guess(room: Room, person: Person, body: Body) -> None:
        played, typed = room.asked(), names.word(body.get("guess"))
        room.keep(person, played, await run_in_threadpool(played.question.guess, typed))

    async def try_out(room: Room, person: Person, body: Body) -> None:
        taught = room.taught()
        text, meant = taught.check_try(person.id, body.get("text"), body.get("label"))
        answer = await in_turn(blocks, Call(person.address), lambda: taught.answer(text))
        room.check_here(person)
        taught.tried(person.id, *taught.check_try(person.id, text, meant), answer)  # again: others may have tried meanwhile

    async def solve(room: Room, person: Person, body: Body) -> Body:
        name = body.get("exercise")
        verdict = await verdict_on(blocks, Call(person.address), name, body.get("query"))
        if verdict.done:
            room.solve(person, await run_in_threadpool(Task.of, name), Solution.of(verdict))
        return {"done": verdict.done, "told": verdict.told}

    return {
        "guess": guess,
        "example": lambda room, person, body: room.taught().add(person.id, body.get("label"), body.get("text")),
        "try": try_out,
        "exercise": solve,
        "take-back": lambda room, person, body: room.taught().take_back(body.get("number"), person.id),
        "leave": lambda room, person, body: room.remove(person.id),
    }


# ---- Helpers.


def _listens(room: Room, who: Person | str, step: int) -> None:
    """Count a page that starts (1) or stops (-1) listening; the others see who is here."""
    if isinstance(who, Person):
        who.listens(step)
        room.moved()
        return
    room.teacher_listening += step
    room.used = time.monotonic()


def _who_asks(request: Request, room: Room) -> Person | str:
    """The sender of a request, by its token: TEACHER, or a person of this room. Raises Refused for anybody else."""
    token = _token_of(request)
    who = TEACHER if room.is_teacher(token) else room.person_of(token)
    if who is None:
        raise Refused(403, OUT, over=True)
    return who


def _token_of(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""


async def _body_of(request: Request) -> Body:
    """The request's JSON object. Raises InputError if it is not one."""
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("Send a JSON object.")
    return body


# ---- The page on which phones join, and its address.


def _page() -> str:
    return (ASSETS / "classroom" / "join.html").read_text("utf-8").replace("{plotly}", PLOTLY_ADDRESS)


@cache
def _script() -> str:
    return page_file.scripts(page_file.all_stems(), "classroom/join.js")


@cache
def _style() -> str:
    own = (ASSETS / "classroom" / "join.css").read_text("utf-8")
    return "\n".join([page_file.styles(page_file.all_stems(), "prose", "sides", "page"), own])


def join_address(request: Request, host: str) -> str:
    """The address of the join page for phones: by the name in the teacher's browser, or by this machine's network address.

    `host` is the address that the app listens on. Returns '' if phones cannot reach it.
    """
    asked = address_of(request.scope)
    name = request.url.hostname or ""
    if not is_loopback(name):
        return f"{asked}join"
    own = "" if is_loopback(host) else own_address()
    return f"{asked.replace(f'//{name}', f'//{own}', 1)}join" if own else ""


def own_address() -> str:
    """This machine's address in its network, '' if it has none. No packet is sent to find it."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737): the route to it tells our own address
            return way.getsockname()[0]
    except OSError:
        return ""
