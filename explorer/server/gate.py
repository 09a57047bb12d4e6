"""Who may ask: names that are ours, and pages that are ours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.base.hosts import LOOPBACK, is_loopback
from explorer.server.metrics import Metrics
from explorer.server.refusals import UNKNOWN, refusal

SAFE = {"GET", "HEAD", "OPTIONS"}
# Doors of Gradio that this app has no use for: they fetch addresses for others, write files, write the program anew, meddle with
# what others stream, or print what they are sent.
CLOSED = re.compile(
    r"/gradio_api/(custom_component|deep_link|dev|proxy=|file[=/]+https?:|(undo-)?vibe|process_recording|run-history|runs|stream/)"
    "|/monitoring",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Names:
    """The names under which people reach the app; `restricted` says whether it answers to no other."""

    public: frozenset[str]
    local: frozenset[str]
    restricted: bool

    @classmethod
    def of(cls, host: str, environment: Mapping[str, str]) -> "Names":
        """From the address to listen on and BERT_EXPLORER_HOSTS (names with commas between them), or the Space's own name.

        A page elsewhere can give its own name the address of this machine (DNS rebinding): an app that listens on a
        loopback address answers to loopback names only. One that listens to the network takes any name unless told.
        """
        given = f"{environment.get('BERT_EXPLORER_HOSTS', '')},{environment.get('SPACE_HOST', '')}"
        public = frozenset(name for each in given.split(",") if (name := _name(each.strip())))
        listens = host.strip("[]").lower()
        return cls(public, LOOPBACK | {listens}, bool(public) or is_loopback(listens))

    def allow(self, host: str) -> bool:
        """Whether a Host header may name the app."""
        return not self.restricted or _name(host) in self.public | self.local


class Gate:
    """Refuses requests for somebody else's name, and what a page of somebody else sends that does something here."""

    def __init__(self, app: ASGIApp, names: Names, metrics: Metrics) -> None:
        self._app, self._names, self._metrics = app, names, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An application of ASGI."""
        refused = self._refusal(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, kind, sentence = refused
        self._metrics.refused(kind)
        await refusal(status, sentence)(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = Headers(scope=scope)
        if not self._names.allow(headers.get("host", "")):
            return 400, "host", "This app does not go by that name; open it as localhost, or name it in BERT_EXPLORER_HOSTS."
        if (scope["method"] not in SAFE or _has_effects(scope)) and self._is_foreign(headers):
            sentence = "A page of another site sent this; use the app's own page, or name that site in BERT_EXPLORER_HOSTS."
            return 403, "cross-origin", sentence
        return (404, "closed", UNKNOWN) if CLOSED.search(scope["path"]) else None

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a browser sent this for the page of another origin; programs that are no browsers name none.

        The rule of Go's http.CrossOriginProtection: what the browser says of the site decides, else the two names.
        """
        origin = headers.get("origin", "")
        if _name(origin.partition("://")[2]) in self._names.public:
            return False
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in ("same-origin", "none")
        return bool(origin) and origin.partition("://")[2].lower() != headers.get("host", "").lower()


def _has_effects(scope: Scope) -> bool:
    """Whether reading this address does something: it logs out, or loads the model that the query names."""
    path, query = scope["path"], scope.get("query_string", b"").decode("latin-1")
    loads = path.startswith("/bx/") and "model" in dict(parse_qsl(query, keep_blank_values=True))
    return loads or path.rstrip("/") == "/logout"


def _name(address: str) -> str | None:
    """The name in `name:port`, in small letters."""
    try:
        return urlsplit(f"//{address}").hostname
    except ValueError:
        return None
