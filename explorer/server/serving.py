"""Put the middleware around Gradio, collect the arguments for its `launch`, and set the options of uvicorn."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import uvicorn
import uvicorn.config
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.api.gradio_seams import wrap_app
from explorer.core.limits import is_on_a_space
from explorer.core.process import most_files
from explorer.page.blocks import PageBlocks
from explorer.page.pieces import OPENS
from explorer.server.bounds import Bodies, Rates, Uploads
from explorer.server.calls import watch_calls
from explorer.server.gate import BehindProxies, Gate, check_login
from explorer.server.guide import guide_routes
from explorer.server.lessons import lesson_routes
from explorer.server.page import COMPRESSION, Document, Kept, SecurityHeaders, opens_page
from explorer.server.refusals import HANDLERS, Refusals
from explorer.server.rooms import room_routes
from explorer.server.routes import routes
from explorer.server.taking import taking_routes

HEADER_BYTES = 64 * 1024  # all header lines: enough for a link of 16,000 characters and its cookies, however they are split
MOST_CONNECTIONS = 8_192  # a page keeps three open at most, a phone in a room one


def guard(blocks: PageBlocks, host: str, document: Document) -> dict[str, Any]:
    """The `app_kwargs` to launch `blocks` on the address `host`."""
    watch_calls(blocks)
    gate, rates = Gate.of(host, os.environ), Rates()

    def around(app: ASGIApp) -> ASGIApp:
        bounded = Bodies(Uploads(app))

        async def checked(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                OPENS.set(opens_page(scope))
                gate.check(scope)
                rates.check(scope)
                await check_login(scope)
            await bounded(scope, receive, send)

        secured = SecurityHeaders(Refusals(checked), document, is_on_a_space())
        return BehindProxies(Kept(GZipMiddleware(secured, compresslevel=COMPRESSION), blocks, rates))

    ours = [*routes(blocks), *taking_routes(blocks), *lesson_routes(blocks), *guide_routes()]
    return {"routes": [*ours, *room_routes(blocks, host)], "exception_handlers": HANDLERS, "lifespan": _outermost(around)}


def _outermost(around: Callable[[ASGIApp], ASGIApp]) -> Any:

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        wrap_app(app, around)
        yield

    return lifespan


def configure_uvicorn() -> None:
    """Set the options of uvicorn for servers started from now on, since Gradio starts its own without them.

    httptools, which uvicorn would take where it is installed, buffers an endless header.
    """
    files = most_files() or MOST_CONNECTIONS
    uvicorn.Config = partial(  # type: ignore[misc, assignment]  # of this process
        uvicorn.config.Config,
        http="h11",
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=min(MOST_CONNECTIONS, files * 3 // 4),  # the others are for models, libraries, runs, uploads
        proxy_headers=False,  # BehindProxies reads them
        log_config=None,
        access_log=False,
    )
