"""What a request brings, read and measured before anybody parses it: a parser lets nobody else go on until it is done."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.base.limits import BODY_MEGABYTES, VALUES
from explorer.server.metrics import Metrics
from explorer.server.refusals import SENTENCES, UPLOAD, refusal

KILOBYTE = 1_024
SMALL = {"/login": 16, "/bx/": 256}  # KB for addresses that begin so: a name and a password; what is done in a room
TOO_LARGE = "That is too large for this address; send at most {} KB."


class Gone(Exception):
    """Who sent hung up before the end."""


class Bodies:
    """An application of ASGI around another one, which is sent bodies of a size that it may have, all at once.

    Uploads go to the disk as they come, and have a limit of their own.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses with 413 or 400 and a sentence, or passes on."""
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
    """The bytes of a body that is sent to an address."""
    return next((most * KILOBYTE for begins, most in SMALL.items() if path.startswith(begins)), BODY_MEGABYTES.bytes)


def has_more_values(body: bytes, most: int) -> bool:
    """Whether a text of JSON has more values than that. Nothing is parsed: each but the first of a list follows a comma."""
    if body.count(b",") < most:
        return False
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if plain.count(b'"') > 4 * most:  # those around a name and around its value
        return True
    return sum(outside.count(b",") for outside in plain.split(b'"')[::2]) >= most


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The body, None when it is too large. Raises Gone."""
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
    if b"\0" in body:  # no JSON in UTF-8
        return 400, SENTENCES[400]
    return (413, VALUES.tell()) if has_more_values(body, VALUES.most) else None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What tells the body, and then whatever comes after it."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
