"""Serve exports: what a link shows as a file, one route for each format, with the parameters of the link."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.api.callers import bounded
from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.fair_queue import Call
from explorer.core.hosts import visitor
from explorer.core.log import logger
from explorer.core.scheduling import TRAINING
from explorer.export import links, qr, ways
from explorer.export.place import Place
from explorer.export.ways import Way
from explorer.page.blocks import PageBlocks
from explorer.page.examples import first_subject
from explorer.server.document import address_of
from explorer.server.login import behind_login
from explorer.server.metrics import Metrics
from explorer.server.refusals import FAILED, UNKNOWN, refusal
from explorer.server.requests import TAKE
from explorer.ui.long_view import LongView

Result = TypeVar("Result")
FRESH = {"Cache-Control": "no-store"}
NOT_NOW = 503


def taking_routes(blocks: PageBlocks, metrics: Metrics) -> list[Route]:
    """The routes: `bx/take/view.html?v=1&tab=attention...`."""

    @behind_login
    async def list_ways(request: Request) -> Response:
        parameters = dict(parse_qsl(request.url.query, keep_blank_values=True))
        return await timed("/take/ways", metrics, lambda: _ways(blocks, request, parameters))

    @behind_login
    async def answer(request: Request) -> Response:
        way = next((way for way in ways.WAYS if way.key == request.path_params["key"]), None)
        if way is None:
            return refusal(404, UNKNOWN)
        parameters = dict(parse_qsl(request.url.query, keep_blank_values=True))
        return await timed(f"/take/{way.key}", metrics, lambda: _file(blocks, request, way, parameters))

    return [Route(TAKE + "link.svg", qr_code), Route(TAKE + "ways.json", list_ways), Route(TAKE + "view.{key}", answer)]


@behind_login
async def qr_code(request: Request) -> Response:
    """The link to this app with the given query, as a QR code."""
    try:
        made = qr.svg(f"{address_of(request.scope)}?{request.url.query}")
    except InputError as error:
        return refusal(400, str(error))
    return Response(made, media_type="image/svg+xml", headers=FRESH)


async def timed(name: str, metrics: Metrics, answer: Callable[[], Awaitable[Response]]) -> Response:
    """The answer, or a refusal if it fails; timed and logged like every call."""
    outcome, start = "ok", time.perf_counter()
    try:
        return await answer()
    except ExplorerError as error:
        outcome = type(error).__name__
        metrics.refused(outcome)
        return refusal(NOT_NOW if isinstance(error, BusyError) else 400, str(error))
    except Exception as error:
        outcome = "internal"
        metrics.refused(outcome)
        logger.error("A way out failed", exc_info=error)
        return refusal(500, FAILED)
    finally:
        seconds = time.perf_counter() - start
        metrics.called(name, seconds)
        logger.info("call", extra={"call": name, "outcome": outcome, "seconds": round(seconds, 4)})


async def _ways(blocks: PageBlocks, request: Request, parameters: dict[str, str]) -> Response:
    """The ways out of what a link shows. Raises ExplorerError."""

    def listed() -> list[dict[str, str]]:
        place = links.read(parameters, first_subject()).opened()
        return [{"key": way.key, "label": way.label} for way in ways.offered(place)]

    return JSONResponse(await in_turn(blocks, call_of(request), listed), headers=FRESH)


async def _file(blocks: PageBlocks, request: Request, way: Way, parameters: dict[str, str]) -> Response:
    """The file. Raises InputError for a link that cannot be followed exactly: a file could not say what is different."""
    place = await in_turn(blocks, call_of(request), lambda: links.read(parameters, first_subject()))
    if place.told:
        raise InputError(place.told[0])
    place = replace(place, part=parameters.get("part", ""))
    if not way.is_quick and any(isinstance(view, LongView) for view in place.views):  # it takes a place for long work instead
        made = await run_in_threadpool(bounded(_made, TRAINING["concurrency_id"]), way, place)
    else:
        made = await in_turn(blocks, call_of(request), lambda: _made(way, place))
    name = f'attachment; filename="bert-explorer-{place.name}.{way.key}"'
    return Response(made, media_type=way.media_type, headers={**FRESH, "Content-Disposition": name})


def _made(way: Way, place: Place) -> bytes:
    return way.make(place.opened())


def call_of(request: Request) -> Call:
    """What the queue needs to know of a request."""
    return Call(visitor(request.client), has_session=False, is_gone=request.is_disconnected)


async def in_turn(blocks: PageBlocks, call: Call, make: Callable[[], Result]) -> Result:
    """Run `make` in a thread, in the fair queue for model calls. Raises BusyError if too many wait, or the client has left."""
    async with blocks.turns.place(call):
        return await run_in_threadpool(make)
