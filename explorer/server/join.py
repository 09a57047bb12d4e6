"""How phones come into a room: the page to join, what draws on it, and the address that leads there."""

import socket
from collections.abc import Awaitable, Callable
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from explorer.base.hosts import is_loopback
from explorer.base.paths import ASSETS
from explorer.outlets import page_file
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server.document import address_of


def join_routes() -> list[Route]:
    """The addresses of the page and its parts."""
    return [
        Route("/join", _page),
        Route("/bx/join.js", _asset("js", "text/javascript")),
        Route("/bx/join.css", _asset("css", "text/css")),
    ]


async def _page(request: Request) -> Response:
    page = (ASSETS / "classroom" / "join.html").read_text("utf-8").replace("{plotly}", PLOTLY_ADDRESS)
    return HTMLResponse(page, headers={"Cache-Control": "no-cache"})


def _asset(suffix: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return Response(_bundle(suffix), media_type=media_type, headers={"Cache-Control": "no-cache"})

    return answer


@cache
def _bundle(suffix: str) -> str:
    """What draws views without the app, and the page of a phone around it."""
    own = [ASSETS / "classroom" / f"{stem}.{suffix}" for stem in ("news", "join")]
    return "\n".join([page_file.drawing(suffix), *(path.read_text("utf-8") for path in own if path.exists())])


def join_address(request: Request, host: str) -> str:
    """Where phones find the page to join, as the teacher's browser or this machine's network names it.

    `host` is the address that the app listens on; '' where phones cannot reach it.
    """
    asked = address_of(request.scope)
    name = request.url.hostname or ""
    if not is_loopback(name):
        return f"{asked}join"
    if is_loopback(host):
        return ""
    own = own_address()
    return f"{asked.replace(f'//{name}', f'//{own}', 1)}join" if own else ""


def own_address() -> str:
    """This machine's address in its network, '' where it has none. Nothing is sent to find it."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect(("192.0.2.1", 9))  # an address for documentation (RFC 5737): which way it would go is all that is asked
            return way.getsockname()[0]
    except OSError:
        found = socket.gethostbyname_ex(socket.gethostname())[2]
        return next((one for one in found if not is_loopback(one)), "")
