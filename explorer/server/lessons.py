"""Serve the lessons: as JSON for the panel beside the page, each answer when it is asked for, and as sheets to print."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.core.errors import ExplorerError
from explorer.server.document import address_of
from explorer.server.files import ASKED_AGAIN
from explorer.server.login import behind_login
from explorer.server.refusals import refusal
from explorer.teaching.lessons.lesson import Lesson
from explorer.teaching.lessons.printing import HERE, handout, teacher_sheet
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import answer, sent

ADDRESS = "/bx/lessons.json"
SHEET = "/bx/lessons/{name}/{sheet}.html"
ANSWER = "/bx/lessons/{name}/{number:int}.json"
SHEETS = {"handout": handout, "teacher": teacher_sheet}
NO_STEP = "There is no such step; open Lessons in the app, which lists all of them."
NO_SHEET = "There is no such sheet; open Lessons in the app, where every lesson leads to its own."


def lesson_routes() -> list[Route]:
    """The lessons' routes, behind the same login as the endpoints."""
    return [Route(ADDRESS, _lessons), Route(SHEET, _sheet), Route(ANSWER, _answer)]


@behind_login
async def _lessons(request: Request) -> Response:
    try:
        found = await run_in_threadpool(sent)  # the first request loads the model, which the steps' layers depend on
    except ExplorerError as error:
        return refusal(500, str(error))
    return JSONResponse(found, headers=ASKED_AGAIN)


@behind_login
async def _answer(request: Request) -> Response:
    lesson, number = _named(request), request.path_params["number"]
    if lesson is None or not 1 <= number <= len(lesson.steps):
        return refusal(404, NO_STEP)
    return JSONResponse(answer(lesson, number), headers=ASKED_AGAIN)


def _named(request: Request) -> Lesson | None:
    return next((one for one in lessons() if one.name == request.path_params["name"]), None)


@behind_login
async def _sheet(request: Request) -> Response:
    """A sheet whose QR codes lead to the address of this request."""
    made = SHEETS.get(request.path_params["sheet"])
    lesson = _named(request)
    if made is None or lesson is None:
        return refusal(404, NO_SHEET)
    try:
        page = await run_in_threadpool(made, lesson, address_of(request.scope) or HERE)
    except ExplorerError as error:  # an address too long for a QR code
        return refusal(400, str(error))
    return HTMLResponse(page, headers=ASKED_AGAIN)
