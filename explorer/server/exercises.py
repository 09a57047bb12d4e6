"""Check the exercises of lessons: `bx/exercises/03-one-head.1?` and the query of the link to what the learner's page shows.

`/exercises` is a teacher's page that has the links of a class checked.
"""

from functools import cache
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.core.errors import ExplorerError
from explorer.core.fair_queue import Call
from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.export import links, page_file
from explorer.page.blocks import PageBlocks
from explorer.server.files import ASKED_AGAIN, served
from explorer.server.login import behind_login
from explorer.server.metrics import Metrics
from explorer.server.requests import EXERCISES
from explorer.server.taking import FRESH, call_of, in_turn, timed
from explorer.teaching.classroom.tasks import Solution, Task
from explorer.teaching.lessons import exercises
from explorer.teaching.lessons.exercises import Verdict
from explorer.teaching.lessons.printing import CHECKED_AT
from explorer.teaching.lessons.sending import within_a_line

FOLDER = ASSETS / "classroom"


def exercise_routes(blocks: PageBlocks, metrics: Metrics) -> list[Route]:
    """The route that checks an exercise, and the teacher's page with its files.

    The answer to a check is {"done", "told", "query", "lesson", "task"}; `task` is HTML.
    """

    @behind_login
    async def answer(request: Request) -> Response:
        name = request.path_params["exercise"]

        async def checked() -> Response:
            lesson, exercise = exercises.exercise_of(name)
            verdict = await verdict_on(blocks, call_of(request), name, request.url.query)
            told = {"done": verdict.done, "told": verdict.told, "query": verdict.query}
            about = {"lesson": lesson.heading, "task": within_a_line(exercise.task)}
            return JSONResponse(told | about, headers=FRESH)

        return await timed("/exercise", metrics, checked)

    return [
        Route(EXERCISES + "{exercise}", answer),
        Route(f"/{CHECKED_AT}", _page),
        Route("/bx/exercises.js", served(_script, "text/javascript")),
        Route("/bx/exercises.css", served(_style, "text/css")),
    ]


@behind_login
async def _page(request: Request) -> Response:
    return HTMLResponse((FOLDER / "exercises.html").read_text("utf-8"), headers=ASKED_AGAIN)


@cache
def _script() -> str:
    return bundle(["classroom/exercises.js"])


def _style() -> str:
    return "\n".join([page_file.styles((), "page"), (FOLDER / "exercises.css").read_text("utf-8")])


async def verdict_on(blocks: PageBlocks, call: Call, name: object, query: object) -> Verdict:
    """The verdict on the page that a link tells of. Raises InputError without such an exercise, and BusyError."""
    _, exercise = exercises.exercise_of(name)

    def check() -> Verdict:
        try:
            place = exercises.place_of(query)
        except ExplorerError as error:  # a page that cannot be read is not done either
            return Verdict(False, f"Not yet: {error}")
        return exercises.checked(exercise, place)

    return await in_turn(blocks, call, check)


def task_of(name: object) -> Task:
    """An exercise as a task for a room. Raises InputError without such an exercise, ModelError if its model cannot be loaded."""
    lesson, exercise = exercises.exercise_of(name)
    begins = next(step.place for step in lesson.steps if step.exercise is exercise)
    told = lesson.heading, within_a_line(exercise.task), links.query(begins)
    return Task(str(name), *told, text=exercise.task.replace("*", ""))


def solution_of(verdict: Verdict) -> Solution:
    """What a verdict found done."""
    link = dict(parse_qsl(verdict.query))
    return Solution((link.get("a", ""), link.get("b", "")), verdict.found, verdict.model)
