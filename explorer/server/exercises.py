"""Check the exercises of lessons: `bx/exercises/03-one-head.1?` and the query of the link to what the learner's page shows."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.api.gradio_seams import may_enter
from explorer.core.errors import ExplorerError
from explorer.core.fair_queue import Call
from explorer.page.blocks import PageBlocks
from explorer.server.metrics import Metrics
from explorer.server.refusals import SENTENCES, refusal
from explorer.server.requests import EXERCISES
from explorer.server.taking import FRESH, call_of, in_turn, timed
from explorer.teaching.lessons import exercises
from explorer.teaching.lessons.exercises import Verdict


def exercise_routes(blocks: PageBlocks, metrics: Metrics) -> list[Route]:
    """The route that checks an exercise: {"done", "told", "query"}."""

    async def answer(request: Request) -> Response:
        if not await may_enter(request):
            return refusal(401, SENTENCES[401])
        name = request.path_params["exercise"]

        async def checked() -> Response:
            verdict = await verdict_on(blocks, call_of(request), name, request.url.query)
            return JSONResponse({"done": verdict.done, "told": verdict.told, "query": verdict.query}, headers=FRESH)

        return await timed("/exercise", metrics, checked)

    return [Route(EXERCISES + "{exercise}", answer)]


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
