"""What a teacher and people may do in a room, by the names of the actions in its addresses."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from explorer.api.callers import bounded
from explorer.core.fair_queue import Call
from explorer.core.scheduling import TRAINING
from explorer.export.tables import csv_of
from explorer.page.blocks import PageBlocks
from explorer.server.lessons import solution_of, task_of, verdict_on
from explorer.server.taking import in_turn
from explorer.teaching.classroom import names, showing
from explorer.teaching.classroom.questions import Asked, question_of_step
from explorer.teaching.classroom.room import Person, Room
from explorer.teaching.classroom.rooms import Rooms
from explorer.teaching.classroom.teaching import Teaching

LESSON = "lesson"  # the kind of a question that a lesson's step asks
Body = dict[str, Any]
Action = Callable[[Room, Body], Any]
PersonsAction = Callable[[Room, Person, Body], Any]


def teachers_actions(blocks: PageBlocks, rooms: Rooms) -> dict[str, Action]:
    """The actions of a teacher. Each raises ExplorerError with a sentence for the board."""

    async def ask(room: Room, body: Body) -> None:
        room.ask(await _question(blocks, room, body), body.get("seconds", 0))
        _wake_at_the_end(room)

    return {
        "ask": ask,
        "look": lambda room, body: in_turn(blocks, Call(room.address), lambda: showing.look_of(body.get("query"))),
        "record": _record,
        "follow": lambda room, body: _follow(blocks, room, body),
        "give": _give,
        "train": _train,
        "time": _limit,
        "guesses": lambda room, body: room.show_guesses(),
        "reveal": lambda room, body: room.reveal(),
        "stop": lambda room, body: room.end_activity(),
        "teach": lambda room, body: room.begin(Teaching.of(body.get("labels"), room.model)),
        "strike": _strike,
        "remove": lambda room, body: room.remove(body.get("id")),
        "door": _door,
        "end": lambda room, body: rooms.end(room),
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
    view = await in_turn(blocks, Call(room.address), lambda: showing.draw(*asked))
    if room.showing is turn:  # otherwise the teacher has moved on
        room.show(view)


async def _train(room: Room, body: Body) -> None:
    taught = room.taught()
    taught.begin()
    room.changed()
    try:
        examples = list(taught.examples)
        head, accuracy = await run_in_threadpool(bounded(taught.learn, TRAINING["concurrency_id"]), examples)
        taught.store_head(head, accuracy, len(examples))
    finally:
        taught.busy = False
        room.changed()


async def _give(room: Room, body: Body) -> None:
    room.give(await run_in_threadpool(task_of, body.get("exercise")))


def _record(room: Room, body: Body) -> Body:
    made, people = room.record(), [[person.name, person.points] for person in room.people.values()]
    return {"csv": csv_of(made), "columns": made.columns, "rows": made.rows, "people": people}


def _strike(room: Room, body: Body) -> None:
    room.taught().take_back(body.get("number"))
    room.changed()


def _door(room: Room, body: Body) -> None:
    room.is_open = bool(body.get("open"))
    room.changed()


# ---- What people do.


def peoples_actions(blocks: PageBlocks) -> dict[str, PersonsAction]:
    """The actions of a person in a room. Each raises ExplorerError with a sentence for the phone."""

    async def guess(room: Room, person: Person, body: Body) -> None:
        played, typed = room.asked(), names.word(body.get("guess"))
        room.keep(person, played, await run_in_threadpool(played.question.guess, typed))

    def add_example(room: Room, person: Person, body: Body) -> None:
        room.taught().add(person.id, body.get("label"), body.get("text"))
        room.changed()

    def take_back(room: Room, person: Person, body: Body) -> None:
        room.taught().take_back(body.get("number"), person.id)
        room.changed()

    async def try_out(room: Room, person: Person, body: Body) -> None:
        taught = room.taught()
        text, meant = taught.check_try(person.id, body.get("text"), body.get("label"))
        answer = await in_turn(blocks, Call(person.address), lambda: taught.answer(text))
        room.check_here(person)
        taught.tried(person.id, *taught.check_try(person.id, text, meant), answer)  # again: others may have tried meanwhile
        room.changed()

    async def solve(room: Room, person: Person, body: Body) -> Body:
        name = body.get("exercise")
        verdict = await verdict_on(blocks, Call(person.address), name, body.get("query"))
        if verdict.done:
            room.solve(person, await run_in_threadpool(task_of, name), solution_of(verdict))
        return {"done": verdict.done, "told": verdict.told}

    return {
        "guess": guess,
        "example": add_example,
        "try": try_out,
        "exercise": solve,
        "take-back": take_back,
        "leave": lambda room, person, body: room.remove(person.id),
    }
