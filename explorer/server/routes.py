"""Routes besides the page: for operators, downloads, and files that our pages share."""

import hmac
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.bert.explorer import list_loaded
from explorer.core import downloads
from explorer.core.hosts import is_loopback
from explorer.core.paths import ASSETS
from explorer.page.blocks import PageBlocks
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server.metrics import as_text
from explorer.server.page import CARD_ADDRESS
from explorer.server.refusals import Refused
from explorer.ui.pictures.base import PLOTLY_JS

FONTS = ("DejaVuSans.woff2", "DejaVuSans-Bold.woff2")
FRESH = {"Cache-Control": "no-store"}
ASKED_AGAIN = {"Cache-Control": "no-cache"}  # another version of the app has other scripts and styles
FOR_A_DAY = {"Cache-Control": "public, max-age=86400"}
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the version is in the name
NOT_YOURS = (
    "The metrics are for this machine, or for clients that send the token of BERT_EXPLORER_METRICS_TOKEN as 'Authorization: "
    "Bearer'."
)
NO_MODEL = "The default model could not be loaded. The log has the reason; the app tries again."
no_model = threading.Event()  # set while the default model cannot be loaded; loading is tried again
GONE = "This download is no longer offered; save the run once more."


def routes(blocks: PageBlocks) -> list[Route]:

    def metrics(request: Request) -> Response:
        if not _may_read_metrics(request):
            raise Refused(403, NOT_YOURS)
        return Response(as_text(blocks), media_type="text/plain; version=0.0.4; charset=utf-8")

    return [
        Route("/healthz", healthz),
        Route("/metrics", metrics),
        Route(f"/{PLOTLY_ADDRESS}", serve_file(PLOTLY_JS, "text/javascript", FOR_EVER)),
        Route(f"/{CARD_ADDRESS}", serve_file(ASSETS / "card.png", "image/png", FOR_A_DAY)),
        *(Route(f"/bx/fonts/{name}", serve_file(ASSETS / "fonts" / name, "font/woff2", FOR_A_DAY)) for name in FONTS),
        Route("/download/{token}", download),
    ]


def serve_text(make: Callable[[], str], media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a route for a script or style of our own pages, which `make` returns."""

    async def answer(request: Request) -> Response:
        return Response(make(), media_type=media_type, headers=ASKED_AGAIN)

    return answer


def serve_file(path: Path, media_type: str, headers: dict[str, str]) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a route for a file that is the same for everybody."""

    async def answer(request: Request) -> Response:
        return FileResponse(path, media_type=media_type, headers=headers)

    return answer


async def healthz(request: Request) -> Response:
    """Health check: whether the model is loaded; 503 if the default model cannot be loaded."""
    loaded = bool(list_loaded())
    if no_model.is_set() and not loaded:
        raise Refused(503, NO_MODEL)
    return JSONResponse({"status": "ok", "model": "loaded" if loaded else "loading"}, headers=FRESH)


def _may_read_metrics(request: Request) -> bool:
    """With BERT_EXPLORER_METRICS_TOKEN, clients that send it; without, this machine only, and not requests that it proxies."""
    if token := os.environ.get("BERT_EXPLORER_METRICS_TOKEN", ""):
        return hmac.compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {token}".encode())
    passed_on = {"forwarded", "x-forwarded-for", "x-forwarded-host"} & set(request.headers)
    return request.client is not None and is_loopback(request.client.host) and not passed_on


def download(request: Request) -> Response:
    """A file that the page offers for download; its address expires, and is not cached."""
    path = downloads.find_offered(request.path_params["token"])
    if path is None:
        raise Refused(404, GONE)
    return FileResponse(path, filename=path.name, headers=FRESH)
