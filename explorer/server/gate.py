"""Access control by host name and origin: requests must name this app and come from its own pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.core.hosts import LOOPBACK, is_loopback
from explorer.server.metrics import Metrics
from explorer.server.refusals import UNKNOWN, refusal
from explorer.server.routes import CARD_ADDRESS

SAFE = {"GET", "HEAD", "OPTIONS"}
OURS = "/bx/"  # addresses of ours, most of which compute something: a page of another site may not use them, as in an <img>
PREVIEW = f"/{CARD_ADDRESS}"  # an image for other sites
READ = ("/bx/guide", "/bx/api", "/bx/lessons/")  # pages for people, which links of other sites may lead to: alike for everybody
# Gradio's routes that this app does not use: they fetch URLs, write files, change the program, disturb the streams of
# other sessions, or print what they are sent.
CLOSED = re.compile(
    r"/gradio_api/(custom_component|deep_link|dev|proxy=|file[=/]+https?:|(undo-)?vibe|process_recording|run-history|runs|stream/)"
    "|/monitoring",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Names:
    """The host names of the app; `restricted` says whether it answers to these only."""

    public: frozenset[str]
    local: frozenset[str]
    restricted: bool

    @classmethod
    def of(cls, host: str, environment: Mapping[str, str]) -> "Names":
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


class Gate:
    """ASGI middleware that refuses foreign Host headers, and requests with effects from pages of other origins."""

    def __init__(self, app: ASGIApp, names: Names, metrics: Metrics) -> None:
        self._app, self._names, self._metrics = app, names, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with a sentence, or pass the request on."""
        refused = self._refusal(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, kind, sentence = refused
        self._metrics.refused(kind)
        await refusal(status, sentence)(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = Headers(scope=scope)
        if not all(map(self._names.allow, [headers.get("host", ""), *headers.getlist("x-forwarded-host")])):
            return 400, "host", "This app does not go by that name; open it as localhost, or name it in BERT_EXPLORER_HOSTS."
        if (scope["method"] not in SAFE or _is_guarded(scope["path"], headers)) and self._is_foreign(headers):
            sentence = "A page of another site sent this; use the app's own page, or name that site in BERT_EXPLORER_HOSTS."
            return 403, "cross-origin", sentence
        return (404, "closed", UNKNOWN) if CLOSED.search(scope["path"]) else None

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a browser sent this for a page of another origin; programs other than browsers send no origin.

        The rule of Go's http.CrossOriginProtection: Sec-Fetch-Site decides if it was sent, else Origin and Host are compared.
        """
        origin = headers.get("origin", "")
        if _name(origin.partition("://")[2]) in self._names.public:
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
    return path != PREVIEW and not (followed and path.startswith(READ))


def _name(address: str) -> str | None:
    """The host name of `name:port`, in lower case; None if it is malformed."""
    try:
        return urlsplit(f"//{address}").hostname
    except ValueError:
        return None
