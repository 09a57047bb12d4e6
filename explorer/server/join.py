"""How phones join a room: the page to join, its scripts and styles, and its address."""

import socket
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from explorer.core.hosts import is_loopback
from explorer.core.paths import ASSETS
from explorer.export import page_file
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server.document import address_of
from explorer.server.files import ASKED_AGAIN, served


def join_routes() -> list[Route]:
    """The routes of the page and of its files."""
    return [
        Route("/join", _page),
        Route("/bx/join.js", served(_script, "text/javascript")),
        Route("/bx/join.css", served(_style, "text/css")),
    ]


async def _page(request: Request) -> Response:
    page = (ASSETS / "classroom" / "join.html").read_text("utf-8").replace("{plotly}", PLOTLY_ADDRESS)
    return HTMLResponse(page, headers=ASKED_AGAIN)


@cache
def _script() -> str:
    """The script of the join page; it draws any view without the app."""
    return page_file.scripts(page_file.all_stems(), "classroom/join.js")


@cache
def _style() -> str:
    """The style sheet of the join page."""
    own = (ASSETS / "classroom" / "join.css").read_text("utf-8")
    return "\n".join([page_file.styles(page_file.all_stems(), "prose", "sides", "page"), own])


def join_address(request: Request, host: str) -> str:
    """The address of the join page for phones: by the name in the teacher's browser, or by this machine's network address.

    `host` is the address that the app listens on. Returns '' if phones cannot reach it.
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
    """This machine's address in its network, '' if it has none. No packet is sent to find it."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737): the route to it tells our own address
            return way.getsockname()[0]
    except OSError:
        found = socket.gethostbyname_ex(socket.gethostname())[2]
        return next((one for one in found if not is_loopback(one)), "")
