"""What a teacher may do in a room, by the names of the actions in its addresses."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from explorer.api.callers import bounded
from explorer.core.fair_queue import Call
from explorer.core.scheduling import TRAINING
from explorer.export.tables import csv_of
from explorer.page.blocks import PageBlocks
from explorer.server.exercises import task_of
from explorer.server.room_requests import Body
from explorer.server.taking import in_turn
from explorer.teaching.classroom import showing
from explorer.teaching.classroom.questions import Asked, question_of_step
from explorer.teaching.classroom.room import Room
from explorer.teaching.classroom.rooms import Rooms
from explorer.teaching.classroom.teaching import Teaching

LESSON = "lesson"  # the kind of a question that a lesson's step asks
Action = Callable[[Room, Body], Awaitable[Body]]


def teachers_actions(blocks: PageBlocks, rooms: Rooms) -> dict[str, Action]:
    """The actions of a teacher, most of which answer {}. Each raises ExplorerError with a sentence for the board."""

    async def ask(room: Room, body: Body) -> Body:
        room.ask(await _question(blocks, room, body), body.get("seconds", 0))
        _wake_at_the_end(room)
        return {}

    async def follow(room: Room, body: Body) -> Body:
        await _follow(blocks, room, body)
        return {}

    async def look(room: Room, body: Body) -> Body:
        return await in_turn(blocks, Call(room.address), lambda: showing.look_of(body.get("query")))

    return {
        "ask": ask,
        "look": look,
        "record": _record,
        "follow": follow,
        "give": _give,
        "train": _train,
        "time": _now(_limit),
        "guesses": _now(lambda room, body: room.show_guesses()),
        "reveal": _now(lambda room, body: room.reveal()),
        "stop": _now(lambda room, body: room.end_activity()),
        "teach": _now(lambda room, body: room.teach(Teaching.of(body.get("labels"), room.model))),
        "strike": _now(_strike),
        "remove": _now(lambda room, body: room.remove(body.get("id"))),
        "door": _now(_door),
        "end": _now(lambda room, body: rooms.end(room)),
    }


# ---- Rounds.


async def _question(blocks: PageBlocks, room: Room, body: Body) -> Asked:
    """The question that is to be asked: of a lesson's step, or about the place of a link. Raises ExplorerError."""
    kind = body.get("kind")
    if kind == LESSON:
        return await run_in_threadpool(question_of_step, body.get("lesson"), body.get("step"))
    return await in_turn(blocks, Call(room.address), lambda: showing.question_of(kind, body.get("query")))


def _limit(room: Room, body: Body) -> None:
    room.asked().limit(body.get("seconds"))
    _wake_at_the_end(room)
    room.changed()


def _wake_at_the_end(room: Room) -> None:
    """Tell all pages when the time of the round is over; if it was changed meanwhile, they are only told nothing new."""
    if (ends := room.asked().ends) is not None:
        asyncio.get_running_loop().call_at(ends + 0.05, room.changed)


# ---- Following, and teaching together.


async def _follow(blocks: PageBlocks, room: Room, body: Body) -> None:
    if not body.get("query"):
        room.showing = None
        room.show(None)
        return
    asked = body["query"], bool(body.get("hidden")), str(body.get("covered") or "")
    room.showing = turn = object()
    view = await in_turn(blocks, Call(room.address), lambda: showing.shown(*asked))
    if room.showing is turn:  # otherwise the teacher has moved on
        room.show(view)


async def _train(room: Room, body: Body) -> Body:
    taught = room.taught()
    taught.begin()
    room.changed()
    try:
        examples = list(taught.examples)
        head, accuracy = await run_in_threadpool(bounded(taught.learn, TRAINING["concurrency_id"]), examples)
        taught.learnt(head, accuracy, len(examples))
    finally:
        taught.busy = False
        room.changed()
    return {}


async def _give(room: Room, body: Body) -> Body:
    room.give(await run_in_threadpool(task_of, body.get("exercise")))
    return {}


async def _record(room: Room, body: Body) -> Body:
    made, people = room.record(), [[one.name, one.points] for one in room.people.values()]
    return {"csv": csv_of(made), "columns": made.columns, "rows": made.rows, "people": people}


# ---- Helpers.


def _now(act: Callable[[Room, Body], Any]) -> Action:
    """A handler for a synchronous action with an empty answer."""

    async def done(room: Room, body: Body) -> Body:
        act(room, body)
        return {}

    return done


def _strike(room: Room, body: Body) -> None:
    room.taught().take_back(body.get("number"))
    room.changed()


def _door(room: Room, body: Body) -> None:
    room.is_open = bool(body.get("open"))
    room.changed()
