"""Serve the lessons and check their exercises.

Lessons come as JSON for the panel beside the page, each answer when it is asked for, and as sheets to print. An exercise is
checked at `bx/exercises/03-one-head.1?` and the query of the link to what the learner's page shows.
"""

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.core.errors import ExplorerError
from explorer.core.scheduling import Call
from explorer.page.blocks import PageBlocks
from explorer.server.bounds import EXERCISES
from explorer.server.calls import timed
from explorer.server.page import address_of
from explorer.server.refusals import Refused
from explorer.server.routes import ASKED_AGAIN, FRESH
from explorer.server.taking import call_of, in_turn
from explorer.teaching.lessons import exercises
from explorer.teaching.lessons.exercises import Verdict
from explorer.teaching.lessons.lesson import Lesson
from explorer.teaching.lessons.printing import HERE, handout, teacher_sheet
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import answer, sent

SHEETS = {"handout": handout, "teacher": teacher_sheet}
NOTHING = "There is no such lesson, step or sheet. Open Lessons in the app for the whole list."


def lesson_routes(blocks: PageBlocks) -> list[Route]:
    """The routes of this module. An exercise is answered with JSON: whether it is done, a sentence, and a query."""

    async def check(request: Request) -> Response:
        name = request.path_params["exercise"]
        with timed("/exercise"):
            verdict = await verdict_on(blocks, call_of(request), name, request.url.query)
            return JSONResponse({"done": verdict.done, "told": verdict.told, "query": verdict.query}, headers=FRESH)

    return [
        # The first request loads the model, which the steps' layers depend on.
        Route("/bx/lessons.json", lambda request: JSONResponse(sent(), headers=ASKED_AGAIN)),
        Route("/bx/lessons/{name}/{sheet}.html", _sheet),
        Route("/bx/lessons/{name}/{number}.json", _answer),
        Route(EXERCISES + "{exercise}", check),
    ]


def _answer(request: Request) -> Response:
    lesson, number = _named(request), request.path_params["number"]
    if number not in {str(place) for place in range(1, len(lesson.steps) + 1)}:
        raise Refused(404, NOTHING)
    return JSONResponse(answer(lesson, int(number)), headers=ASKED_AGAIN)


def _sheet(request: Request) -> Response:
    """A sheet whose QR codes lead to the address of this request."""
    make = SHEETS.get(request.path_params["sheet"])
    if make is None:
        raise Refused(404, NOTHING)
    return HTMLResponse(make(_named(request), address_of(request.scope) or HERE), headers=ASKED_AGAIN)


def _named(request: Request) -> Lesson:
    for lesson in lessons():
        if lesson.name == request.path_params["name"]:
            return lesson
    raise Refused(404, NOTHING)


async def verdict_on(blocks: PageBlocks, call: Call, name: object, query: object) -> Verdict:
    """The verdict on the page that a link describes. Raises InputError without such an exercise, and BusyError."""
    _, exercise = exercises.exercise_of(name)

    def check() -> Verdict:
        try:
            place = exercises.place_of(query)
        except ExplorerError as error:  # a page that cannot be read is not done either
            return Verdict(False, f"Not yet: {error}")
        return exercises.check(exercise, place)

    return await in_turn(blocks, call, check)
