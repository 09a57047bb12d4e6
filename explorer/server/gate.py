"""Access: whose a request is behind proxies; it must name this app, come from its own pages, and have logged in."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from explorer.api.gradio_seams import user_of
from explorer.core.errors import InputError
from explorer.core.hosts import LOOPBACK, is_loopback
from explorer.core.limits import is_on_a_space
from explorer.server.refusals import SENTENCES, UNKNOWN, Refused

SAFE = {"GET", "HEAD", "OPTIONS"}
OURS = "/bx/"  # addresses of ours, most of which compute something: a page of another site may not use them, as in an <img>
READ = ("/bx/guide", "/bx/api", "/bx/lessons/")  # pages for people, which links of other sites may lead to: alike for everybody
# Gradio's routes that this app does not use: they fetch URLs, write files, change the program, disturb the streams of
# other sessions, or print what they are sent.
CLOSED = re.compile(
    r"/gradio_api/(custom_component|deep_link|dev|proxy=|file[=/]+https?:|(undo-)?vibe|process_recording|run-history|runs|stream/)"
    "|/monitoring",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Gate:
    """Refuses foreign Host headers, and requests with effects from pages of other origins.

    `public` and `local` are the host names of the app; `restricted` says whether it answers to these only.
    """

    public: frozenset[str]
    local: frozenset[str]
    restricted: bool

    @classmethod
    def of(cls, host: str, environment: Mapping[str, str]) -> "Gate":
        """Make them from the listening address, BERT_EXPLORER_HOSTS (comma-separated) and the Space's own name.

        Another site can point its own name at this machine (DNS rebinding), so an app that listens on a loopback address
        answers to loopback names only. One that listens to the network takes any name, unless names are given.
        """
        given = f"{environment.get('BERT_EXPLORER_HOSTS', '')},{environment.get('SPACE_HOST', '')}"
        public = frozenset(name for each in given.split(",") if (name := _name(each.strip())))
        listens = host.strip("[]").lower()
        return cls(public, LOOPBACK | {listens}, bool(public) or is_loopback(listens))

    def allow(self, host: str) -> bool:
        """Whether the app answers to this Host header."""
        return not self.restricted or _name(host) in self.public | self.local

    def check(self, scope: Scope) -> None:
        """Raise Refused for a request that may not pass."""
        method, path, headers = scope["method"], scope["path"], Headers(scope=scope)
        if not all(map(self.allow, [headers.get("host", ""), *headers.getlist("x-forwarded-host")])):
            sentence = "The app does not answer to that host name. Open it as localhost, or add the name to BERT_EXPLORER_HOSTS."
            raise Refused(400, sentence, kind="host")
        if (method not in SAFE or _is_guarded(path, headers)) and self._is_foreign(headers):
            sentence = (
                "A page of another site sent this request. Use the app's own page, or add that site to BERT_EXPLORER_HOSTS."
            )
            raise Refused(403, sentence, kind="cross-origin")
        if CLOSED.search(path):
            raise Refused(404, UNKNOWN, kind="closed")

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a browser sent this for a page of another origin; programs other than browsers send no origin.

        The rule of Go's http.CrossOriginProtection: Sec-Fetch-Site decides if it was sent, else Origin and Host are compared.
        """
        origin = headers.get("origin", "")
        if _name(origin.partition("://")[2]) in self.public:
            return False
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in ("same-origin", "none")
        return bool(origin) and origin.partition("://")[2].lower() != headers.get("host", "").lower()


def _is_guarded(path: str, headers: Headers) -> bool:
    """Whether a GET of this address must come from our own pages: it logs out, computes or loads.

    A person who follows a link to a page of READ, in a tab, may come from anywhere.
    """
    if not path.startswith(OURS):
        return path.rstrip("/") == "/logout"
    followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (followed and path.startswith(READ) and not path.endswith(".json"))


def _name(address: str) -> str | None:
    """The host name of `name:port`, in lower case; None if it is malformed."""
    try:
        return urlsplit(f"//{address}").hostname
    except ValueError:
        return None


# ---- Proxies.

ADDRESSES = "FORWARDED_ALLOW_IPS"  # uvicorn's setting: addresses and networks of trusted proxies
NAME_PROXIES = f"{ADDRESSES} may not be *. Name the addresses or networks of your proxies in it, such as 10.0.0.0/8."
# The Hub does not document its proxies' addresses; a Space sees private ones (10.16.3.80), and visitors have public ones.
PRIVATE = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,::1,fc00::/7"
# Gradio takes the app's own address from these. Proxies may send the first two; the last is of its Node server, not used here.
OF_PROXIES, OF_NONE = frozenset({b"x-forwarded-host", b"x-forwarded-proto"}), frozenset({b"x-gradio-server"})


def check_environment() -> None:
    """Raise InputError if all clients are trusted as proxies: uvicorn would then believe what a visitor writes."""
    if "*" in os.environ.get(ADDRESSES, ""):
        raise InputError(NAME_PROXIES)


class BehindProxies(ProxyHeadersMiddleware):
    """uvicorn's middleware, for a Space too, and without headers that would give the page another address."""

    def __init__(self, app: ASGIApp) -> None:
        trusted = os.environ.get(ADDRESSES, PRIVATE if is_on_a_space() else "127.0.0.1")
        super().__init__(app, trusted)  # type: ignore[arg-type]  # Starlette and uvicorn each have a type for an application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            client = scope.get("client")
            is_proxy = client is not None and client[0] in self.trusted_hosts
            dropped = OF_NONE if is_proxy else OF_NONE | OF_PROXIES
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in dropped]
        await super().__call__(scope, receive, send)


# ---- Passwords.

API = "/gradio_api/"
BEFORE_LOGIN = frozenset({"app_id", "login_check", "startup-events", "theme.css", "token", "user"})  # for the login page
OPEN = re.compile(  # of ours: styles, scripts and pictures, former addresses, and rooms, each seat of which has a token
    r"/bx/(rooms/.*|fonts/.*|guide|(guide|join)\.(css|js)|[^/]*/plotly\.min\.js|minisearch\.js|api|openapi\.json)"
)


async def check_login(scope: Scope) -> None:
    """Raise Refused without a login: Gradio itself checks it at most of its routes only, and at no route of the app."""
    path = scope["path"]
    is_open = path.removeprefix(API).rstrip("/") in BEFORE_LOGIN if path.startswith(API) else OPEN.fullmatch(path)
    if path.startswith((API, OURS)) and not is_open and await user_of(Request(scope)) is None:
        raise Refused(HTTPStatus.UNAUTHORIZED, SENTENCES[HTTPStatus.UNAUTHORIZED])
