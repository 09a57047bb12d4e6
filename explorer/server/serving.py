"""Put the middleware around Gradio, and collect the arguments for its `launch`."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.api.gradio_seams import FnIndexInferError, wrap_app
from explorer.core.limits import is_on_a_space
from explorer.page.blocks import PageBlocks
from explorer.page.pieces import ASKED
from explorer.server.arguments import ArgumentsError, check_arguments
from explorer.server.bodies import Bodies
from explorer.server.calls import watch_calls
from explorer.server.document import Document
from explorer.server.exercises import exercise_routes
from explorer.server.gate import Gate, Names
from explorer.server.guide import guide_routes
from explorer.server.headers import SecurityHeaders
from explorer.server.kept import Kept, asked_of
from explorer.server.lessons import lesson_routes
from explorer.server.login import Guesses, check_login
from explorer.server.metrics import Metrics
from explorer.server.painting import painting_routes
from explorer.server.reference import reference_routes
from explorer.server.refusals import Refusals, misnamed, unfit, unknown, wrong_arguments
from explorer.server.requests import RequestsAMinute
from explorer.server.rooms import room_routes
from explorer.server.routes import routes
from explorer.server.taking import taking_routes
from explorer.server.uploads import Uploads, hung_up, without_room

COMPRESSION = 6  # of 9: the last levels save a few percent and take most of the time


def guarded(blocks: PageBlocks, host: str, document: Document) -> dict[str, Any]:
    """The `app_kwargs` to launch `blocks` on the address `host`."""
    metrics = Metrics(blocks)
    watch_calls(blocks, metrics)
    names = Names.of(host, os.environ)

    def around(app: ASGIApp) -> ASGIApp:
        bounded = RequestsAMinute(Guesses(Bodies(Uploads(Refusals(app, metrics), metrics), metrics), metrics), metrics)
        gate = Gate(bounded, names, metrics)
        secured = SecurityHeaders(told_of_links(gate), document, is_on_a_space())
        return Kept(GZipMiddleware(secured, compresslevel=COMPRESSION), blocks, metrics)

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]
    handlers = {FnIndexInferError: unknown, KeyError: unknown, RequestValidationError: unfit, TypeError: misnamed}
    handlers |= {ArgumentsError: wrong_arguments(metrics), ClientDisconnect: hung_up, OSError: without_room}
    ours = [*routes(metrics), *taking_routes(blocks, metrics), *reference_routes(blocks), *lesson_routes()]
    ours += [*exercise_routes(blocks, metrics), *guide_routes(), *painting_routes(blocks, metrics), *room_routes(blocks, host)]
    checks = [Depends(check_login), Depends(check_arguments)]
    return {"routes": ours, "dependencies": checks, "exception_handlers": handlers, "lifespan": _outermost(around)}


def told_of_links(app: ASGIApp) -> ASGIApp:
    """Middleware that sets which configuration of the page a request is for (ASKED)."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            ASKED.set(asked_of(scope))
        await app(scope, receive, send)

    return answer


def _outermost(around: Any) -> Any:
    """A lifespan that wraps the app when it starts."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        wrap_app(app, around)
        yield

    return lifespan
