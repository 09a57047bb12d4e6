"""Serve what a link shows as a file, one route for each format."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.api.callers import bound
from explorer.core.hosts import visitor
from explorer.core.scheduling import TRAINING, Call
from explorer.export import links, qr, ways
from explorer.export.ways import Way
from explorer.page.blocks import PageBlocks
from explorer.page.examples import first_subject
from explorer.server.bounds import TAKE
from explorer.server.calls import timed
from explorer.server.page import address_of
from explorer.server.refusals import UNKNOWN, Refused
from explorer.server.routes import FRESH
from explorer.ui.attention_data import head_cards
from explorer.ui.long_view import LongView

Result = TypeVar("Result")


def taking_routes(blocks: PageBlocks) -> list[Route]:
    """The routes, such as `bx/take/view.html?v=1&tab=attention...`."""

    async def take(request: Request) -> Response:
        way = next((way for way in ways.WAYS if way.key == request.path_params["key"]), None)
        if way is None:
            raise Refused(404, UNKNOWN)
        with timed(f"/take/{way.key}"):
            return await _file(blocks, request, way)

    async def heads(request: Request) -> Response:
        """The names and links of all heads for the texts of a link."""
        with timed("/take/heads.json"):
            place = await in_turn(blocks, call_of(request), lambda: links.follow(request.url.query, first_subject()))
            return JSONResponse(await in_turn(blocks, call_of(request), lambda: head_cards(place.subject)), headers=FRESH)

    return [Route(TAKE + "link.svg", qr_code), Route(TAKE + "heads.json", heads), Route(TAKE + "view.{key}", take)]


async def qr_code(request: Request) -> Response:
    """The link to this app with the given query, as a QR code."""
    made = qr.svg(f"{address_of(request.scope)}?{request.url.query}")
    return Response(made, media_type="image/svg+xml", headers=FRESH)


async def _file(blocks: PageBlocks, request: Request, way: Way) -> Response:
    found = await in_turn(blocks, call_of(request), lambda: links.follow(request.url.query, first_subject()))
    place = replace(found, part=request.query_params.get("part", ""))

    def made() -> bytes:
        return way.make(place.opened())

    if not way.is_quick and any(isinstance(view, LongView) for view in place.views):  # it takes a place for long work instead
        content = await run_in_threadpool(bound(made, TRAINING["concurrency_id"]))
    else:
        content = await in_turn(blocks, call_of(request), made)
    name = f'attachment; filename="bert-explorer-{place.name}.{way.key}"'
    return Response(content, media_type=way.media_type, headers={**FRESH, "Content-Disposition": name})


def call_of(request: Request) -> Call:
    """What the queue needs to know of a request."""
    return Call(visitor(request.client), has_session=False, is_gone=request.is_disconnected)


async def in_turn(blocks: PageBlocks, call: Call, make: Callable[[], Result]) -> Result:
    """Run `make` in a thread, with a place for model calls. Raises BusyError if too many wait, or the client has left."""
    async with blocks.turns.place(call):
        return await run_in_threadpool(make)
