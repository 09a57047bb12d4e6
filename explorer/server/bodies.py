"""Read request bodies and check their size before any parser runs: parsing blocks the event loop."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.core.formats import has_more_values, longest_text
from explorer.core.limits import BOX_CHARACTERS, Limit
from explorer.server.metrics import Metrics
from explorer.server.refusals import BODY_MEGABYTES, SENTENCES, UPLOAD, refusal

VALUES = Limit(  # each word or number; parsing one takes a microsecond, during which no other request is answered
    200_000, "There are more than {most} values in this request; send a part of them."
)
KILOBYTE = 1_024
SMALL = {"/login": 16, "/bx/": 256}  # KB, by the start of the path: a name and a password; an action in a room
TOO_LARGE = "That is too large for this address; send at most {} KB."


class Gone(Exception):
    """The client disconnected before the body was complete."""


class Bodies:
    """ASGI middleware that reads each body whole, refuses it if it is too large, and passes it on in one message.

    Uploads are not touched: they are streamed to disk, and have a limit of their own.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 413 or 400 and a sentence, or pass the request on."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"].endswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        try:
            body = await _read(scope, receive)
        except Gone:
            return
        told = _too_large(scope["path"]) if body is None else _flaw(body)
        if body is not None and told is None:
            await self._app(scope, _replayed(body, receive), send)
        elif told is not None:
            status, sentence = told
            self._metrics.refused(HTTPStatus(status).phrase)
            await refusal(status, sentence)(scope, receive, send)


def most_of(path: str) -> int:
    """The most bytes of a body sent to this path."""
    return next((most * KILOBYTE for begins, most in SMALL.items() if path.startswith(begins)), BODY_MEGABYTES.bytes)


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The body, None if it is too large. Raises Gone."""
    most = most_of(scope["path"])
    length = Headers(scope=scope).get("content-length", "")
    if length.isdecimal() and (len(length) > 15 or int(length) > most):
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _too_large(path: str) -> tuple[int, str]:
    most = most_of(path)
    return 413, BODY_MEGABYTES.tell() if most == BODY_MEGABYTES.bytes else TOO_LARGE.format(most // KILOBYTE)


def _flaw(body: bytes) -> tuple[int, str] | None:
    if b"\0" in body:  # not allowed in JSON in UTF-8
        return 400, SENTENCES[400]
    if has_more_values(body, VALUES.most):
        return 413, VALUES.tell()
    if len(body) > BOX_CHARACTERS.most and (longest := longest_text(body)) > BOX_CHARACTERS.most:
        return 413, BOX_CHARACTERS.tell(longest, "a text of this request")
    return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body first, and then what really follows."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
