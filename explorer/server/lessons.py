"""The lessons, for the panel beside the page."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.base.errors import ExplorerError
from explorer.lessons.sending import sent
from explorer.server.logins import may_enter
from explorer.server.refusals import SENTENCES, refusal

ADDRESS = "/bx/lessons.json"


def lesson_routes() -> list[Route]:
    """Their address, behind the same door as the endpoints."""
    return [Route(ADDRESS, _lessons)]


async def _lessons(request: Request) -> Response:
    if not await may_enter(request):
        return refusal(401, SENTENCES[401])
    try:
        found = await run_in_threadpool(sent)  # the first time, the model is loaded that the steps' layers are read with
    except ExplorerError as error:
        return refusal(500, str(error))
    return JSONResponse(found, headers={"Cache-Control": "no-cache"})
