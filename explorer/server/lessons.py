"""Serve the lessons and check their exercises.

Lessons come as JSON for the panel beside the page, each answer when it is asked for, and as sheets to print. An exercise is
checked at `bx/exercises/03-one-head.1?` and the query of the link to what the learner's page shows.
"""

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.core.errors import ExplorerError
from explorer.core.scheduling import Call
from explorer.export import links
from explorer.page.blocks import PageBlocks
from explorer.server.bounds import EXERCISES
from explorer.server.calls import timed
from explorer.server.page import address_of
from explorer.server.refusals import Refused
from explorer.server.routes import ASKED_AGAIN, FRESH
from explorer.server.taking import call_of, in_turn
from explorer.teaching.classroom.tasks import Solution, Task
from explorer.teaching.lessons import exercises
from explorer.teaching.lessons.exercises import Verdict
from explorer.teaching.lessons.lesson import Lesson
from explorer.teaching.lessons.printing import HERE, handout, teacher_sheet
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import answer, sent, within_a_line

SHEETS = {"handout": handout, "teacher": teacher_sheet}
NO_STEP = "There is no such step; open Lessons in the app, which lists all of them."
NO_SHEET = "There is no such sheet; open Lessons in the app, where every lesson leads to its own."


def lesson_routes(blocks: PageBlocks) -> list[Route]:
    """The routes of this module; the answer to an exercise is {"done", "told", "query"}."""

    async def check(request: Request) -> Response:
        name = request.path_params["exercise"]
        with timed("/exercise"):
            verdict = await verdict_on(blocks, call_of(request), name, request.url.query)
            return JSONResponse({"done": verdict.done, "told": verdict.told, "query": verdict.query}, headers=FRESH)

    return [
        Route("/bx/lessons.json", _lessons),
        Route("/bx/lessons/{name}/{sheet}.html", _sheet),
        Route("/bx/lessons/{name}/{number}.json", _answer),
        Route(EXERCISES + "{exercise}", check),
    ]


def _lessons(request: Request) -> Response:
    try:
        found = sent()  # the first request loads the model, which the steps' layers depend on
    except ExplorerError as error:
        raise Refused(500, str(error)) from error
    return JSONResponse(found, headers=ASKED_AGAIN)


def _answer(request: Request) -> Response:
    lesson, number = _named(request), request.path_params["number"]
    if lesson is None or number not in {str(place) for place in range(1, len(lesson.steps) + 1)}:
        raise Refused(404, NO_STEP)
    return JSONResponse(answer(lesson, int(number)), headers=ASKED_AGAIN)


def _sheet(request: Request) -> Response:
    """A sheet whose QR codes lead to the address of this request."""
    make, lesson = SHEETS.get(request.path_params["sheet"]), _named(request)
    if make is None or lesson is None:
        raise Refused(404, NO_SHEET)
    return HTMLResponse(make(lesson, address_of(request.scope) or HERE), headers=ASKED_AGAIN)


def _named(request: Request) -> Lesson | None:
    return next((lesson for lesson in lessons() if lesson.name == request.path_params["name"]), None)


# ---- Exercises.


async def verdict_on(blocks: PageBlocks, call: Call, name: object, query: object) -> Verdict:
    """The verdict on the page that a link tells of. Raises InputError without such an exercise, and BusyError."""
    _, exercise = exercises.exercise_of(name)

    def check() -> Verdict:
        try:
            place = exercises.place_of(query)
        except ExplorerError as error:  # a page that cannot be read is not done either
            return Verdict(False, f"Not yet: {error}")
        return exercises.check(exercise, place)

    return await in_turn(blocks, call, check)


def task_of(name: object) -> Task:
    """An exercise as a task for a room. Raises InputError without such an exercise, ModelError if its model cannot be loaded."""
    lesson, exercise = exercises.exercise_of(name)
    begins = next(step.place for step in lesson.steps if step.exercise is exercise)
    told = lesson.heading, within_a_line(exercise.task), links.query(begins)
    return Task(str(name), *told, text=exercise.task.replace("*", ""))


def solution_of(verdict: Verdict) -> Solution:
    link = dict(parse_qsl(verdict.query))
    return Solution((link.get("a", ""), link.get("b", "")), verdict.found, verdict.model)
