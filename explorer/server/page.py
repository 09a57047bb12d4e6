"""The page as it is sent: completed with our scripts and card, with security headers, and cached like other slow answers."""

import asyncio
import base64
import gzip
import hashlib
import re
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.gradio_seams import user_of
from explorer.core.cache import OnceCache
from explorer.core.hosts import visitor
from explorer.export import links
from explorer.page.blocks import PageBlocks
from explorer.page.components import PLOTLY_ADDRESS
from explorer.server.ahead import Ahead, element, write
from explorer.server.bounds import Rates

CARD_ADDRESS = "bx/card.png"  # what other sites show in a preview
ABOUT_GRADIO = re.compile(rb'(?<!\s)\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')


@dataclass(frozen=True)
class Document:
    """What is added to the end of the page's head and of its body. (Gradio adds a head by script, after a first layout.)"""

    head: str
    tail: str = ""

    def complete(self, page: bytes, address: str) -> bytes:
        """The page with our additions, and our preview in place of Gradio's; `address` is the app's own and ends with a slash."""
        head, _, body = page.partition(b"</head>")
        before, _, after = body.rpartition(b"</body>")
        head = ABOUT_GRADIO.sub(b"", head)
        card = f'<meta property="og:image" content="{escape(address + CARD_ADDRESS)}">'.encode()
        return b"".join([head, card, self.head.encode(), b"</head>", before, self.tail.encode(), b"</body>", after])


def address_of(scope: Scope) -> str:
    """The app's address in this request, ending with a slash; "" without a Host header. Do not trust it: the client sends it."""
    headers = Headers(scope=scope)
    host, scheme = headers.get("host", ""), headers.get("x-forwarded-proto", scope["scheme"])
    return f"{'https' if scheme == 'https' else 'http'}://{host}{scope.get('root_path', '')}/" if host else ""


# ---- Headers: only our own scripts run, types are not guessed, other sites may not frame the page.

# Gradio compiles its components' scripts, so the page needs 'unsafe-eval'. Other scripts must be ours: an inline script
# needs its hash here, and handlers in attributes cannot have one.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",  # the page sets a base of its own
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
ON_A_SPACE = "'self' https://huggingface.co https://*.hf.space"  # the sites that show a Space in a frame
FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
INLINE = re.compile(rb"<script(?![^<>]*\bsrc=)[^<>]*>((?:[^<]|<(?!/?script))*+)</script>")


class SecurityHeaders:
    """ASGI middleware that adds the headers, completes the page, and lists the page's inline scripts in its policy."""

    def __init__(self, app: ASGIApp, document: Document, on_a_space: bool) -> None:
        self._app = app
        self._document = document
        self._policy = POLICY | ({"frame-ancestors": ON_A_SPACE} if on_a_space else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message = {}
        page, is_page = b"", False

        async def send_on(message: Message) -> None:
            nonlocal start, page, is_page
            if message["type"] == "http.response.start":
                start = message
                is_html = Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
                is_page = is_html and scope["path"].endswith("/")  # an uploaded file never ends so
                if not is_page:
                    await send(self._secure(message, ""))
            elif is_page:  # the scripts are known only when the whole page is there
                page += message.get("body", b"")
                if not message.get("more_body"):
                    page = self._document.complete(page, address_of(scope))
                    MutableHeaders(scope=start)["Content-Length"] = str(len(page))
                    await send(self._secure(start, _hashes(page)))
                    await send({**message, "body": page})
            else:
                await send(message)

        await self._app(scope, receive, send_on if scope["type"] == "http" else send)

    def _secure(self, start: Message, hashes: str) -> Message:
        headers = MutableHeaders(scope=start)
        policy = self._policy | {"script-src": f"{self._policy['script-src']} {hashes}".strip()}
        headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
        headers.update(FIXED)
        del headers["Access-Control-Allow-Origin"]  # pages of other origins must not read answers
        del headers["Access-Control-Allow-Credentials"]
        return start


def _hashes(page: bytes) -> str:
    digests = [hashlib.sha256(script).digest() for script in INLINE.findall(page)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


# ---- The cache.

PATHS = frozenset({"/", "/config", "/config/", "/gradio_api/info", "/gradio_api/info/", "/bx/join.js", "/bx/join.css"})
PATHS |= {f"/{PLOTLY_ADDRESS}"}  # which takes long to compress
UNUSED = frozenset({"deep_link", "page"})  # query parameters of Gradio features that this app does not have
JSON = "application/json"
COMPRESSION = 6  # of 9: the last levels save a few percent and take most of the time
OWN = frozenset({"all_endpoints"})  # query parameters that change the answer
ADDRESSED_BY = ("host", "x-forwarded-host", "x-forwarded-proto")  # these headers change the address in an answer
MOST = 32  # cached answers


def opens_page(scope: Scope) -> bool:
    """Whether a request opens the page, rather than needs all of its configuration, as the endpoints' documentation does."""
    return scope["path"] == "/" and dict(_parameters(scope)).get("view") != "api"


def _parameters(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


class Kept:
    """ASGI middleware that caches the answers for PATHS; one answer is made at a time."""

    def __init__(self, app: ASGIApp, blocks: PageBlocks, rates: Rates) -> None:
        self._app, self._blocks, self._rates = app, blocks, rates
        self._answers: OnceCache[tuple, list[Message]] = OnceCache(MOST)
        self._one = asyncio.Lock()
        self._ahead = Ahead(blocks)
        self._opening = element({"elements": blocks.opens_with})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        parameters = _parameters(scope)
        query = urlencode([(name, value) for name, value in parameters if name not in UNUSED])
        scope = {**scope, "query_string": query.encode()}
        if OWN & dict(parameters).keys():
            await self._app(scope, receive, send)
            return
        for message in await self._answer(scope, receive, query):
            await send(message)

    async def _answer(self, scope: Scope, receive: Receive, query: str) -> list[Message]:
        """The answer; the page of a link is sent with the link's place instead of the one that the page opens with.

        A page that is open already, without Gradio yet, asks for the place alone, as JSON.
        """
        leads_on = links.asks(dict(_parameters(scope))) or not self._blocks.opens_with
        if not leads_on or not opens_page(scope) or scope["method"] == "HEAD":
            return await self._kept(scope, receive)
        address = visitor(scope.get("client"))
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        start, *bodies = await self._kept({**scope, "headers": plain}, receive)
        page = b"".join(message.get("body", b"") for message in bodies)
        before, found, after = page.rpartition(self._opening)
        if not found or await user_of(Request({**scope, "app": self._blocks.app})) is None:
            return [start, *bodies]
        place = await self._ahead.place(query, address) if self._rates.may_work(address) else {}
        start = {**start, "headers": list(start["headers"])}
        if Headers(scope=scope).get("accept") == JSON:
            page = await asyncio.to_thread(write, place)
            MutableHeaders(scope=start)["Content-Type"] = JSON
        else:
            page = b"".join([before, await asyncio.to_thread(element, place), after])
        if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            page = await asyncio.to_thread(gzip.compress, page, COMPRESSION, mtime=0)
            MutableHeaders(scope=start)["Content-Encoding"] = "gzip"
        MutableHeaders(scope=start)["Content-Length"] = str(len(page))
        return [start, {"type": "http.response.body", "body": page}]

    async def _kept(self, scope: Scope, receive: Receive) -> list[Message]:
        key = await self._key(scope)
        if found := self._answers.peek(key):
            return found
        async with self._one:
            if found := self._answers.peek(key):  # made for another request meanwhile
                return found
            messages = await _messages(self._app, scope, receive)
            whole = len(messages) > 1 and not messages[-1].get("more_body")  # otherwise its visitor has left meanwhile
            if whole and messages[0].get("status") == HTTPStatus.OK:
                self._answers.put(key, messages)
            return messages

    async def _key(self, scope: Scope) -> tuple:
        """The cache key: all that the answer depends on."""
        headers = Headers(scope=scope)
        user = await user_of(Request({**scope, "app": self._blocks.app}))  # the user's name is on the page
        encodings = [name in headers.get("accept-encoding", "") for name in ("gzip", "br")]  # Gradio sends scripts in the latter
        how = scope["method"], scope["path"], opens_page(scope), user, *encodings
        return *how, scope["scheme"], scope.get("root_path", ""), *(tuple(headers.getlist(name)) for name in ADDRESSED_BY)


async def _messages(app: ASGIApp, scope: Scope, receive: Receive) -> list[Message]:
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    return messages
