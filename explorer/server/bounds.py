"""What requests may bring: how many a minute from one address, how large a body, and how much room for uploaded files."""

import time
from collections import deque
from contextlib import suppress
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.gradio_seams import arriving_files
from explorer.core.formats import has_more_values, longest_text
from explorer.core.hosts import MINUTE, Recent, visitor
from explorer.core.limits import BOX_CHARACTERS, REQUESTS, UPLOAD_MEGABYTES, UPLOADS_MEGABYTES, VISITOR_UPLOADS_MEGABYTES, Limit
from explorer.server.refusals import BODY_MEGABYTES, SENTENCES, UPLOAD, Refused

TAKE = "/bx/take/"  # files made of a view
EXERCISES = "/bx/exercises/"  # checking what a learner's page shows
COUNTED = (TAKE, EXERCISES, "/bx/rooms/")  # the last by those who guess the words of rooms
MOST_LOGINS = 60  # a minute from one address: a school has a single one
TOO_MANY_LOGINS = "Too many logins come from your address. Wait a minute."
VALUES = Limit(  # each word or number; parsing one takes a microsecond, during which no other request is answered
    200_000, "There are more than {most} values in this request. Send a part of them."
)
KILOBYTE = 1_024
SMALL = {"/login": 16, "/bx/": 256}  # KB, by the start of the path: a name and a password; an action in a room
TOO_LARGE = "That is too large for this address. Send at most {} KB."
NO_LENGTH = "Send the size of the upload too, as Content-Length."
KEPT = 70 * MINUTE  # for which Gradio keeps a file at most: every ten minutes it deletes those older than an hour
LEAST = 256 * KILOBYTE  # bytes that an upload counts for at least, which limits the number of files
AROUND = 64 * KILOBYTE  # bytes of the request around its file


class Rates:
    """Limits what one address may ask for in a minute: what causes work (every POST, and COUNTED), and to log in."""

    def __init__(self) -> None:
        self._work, self._logins = Recent(), Recent()

    def may_work(self, address: str) -> bool:
        """Whether an address may have another request that causes work; it is counted then."""
        return not REQUESTS.most or self._work.allow(address, REQUESTS.most)

    def check(self, scope: Scope) -> None:
        """Count a request. Raises Refused."""
        posts, path, client = scope["method"] == "POST", scope["path"], scope.get("client")
        if not client or not (posts or path.startswith(COUNTED)):
            return
        if posts and path.rstrip("/") == "/login" and not self._logins.allow(visitor(client), MOST_LOGINS):
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_LOGINS, MINUTE)
        if not self.may_work(visitor(client)):
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, REQUESTS.tell(), MINUTE)


# ---- Bodies.


class Bodies:
    """ASGI middleware that reads each body whole, refuses it if it is too large, and passes it on in one message.

    Parsing blocks the event loop, so the size is checked before. Uploads are streamed to disk, and have a limit of their own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"].endswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        body = await _read(scope, receive)
        if body is None:
            return
        _check_body(body)
        coming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return coming.pop() if coming else await receive()

        await self._app(scope, replay, send)


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The body; None if the client disconnected before it was complete. Raises Refused if it is too large."""
    small = next((most * KILOBYTE for begins, most in SMALL.items() if scope["path"].startswith(begins)), None)
    most = small or BODY_MEGABYTES.bytes
    sentence = TOO_LARGE.format(small // KILOBYTE) if small else BODY_MEGABYTES.tell()
    length = Headers(scope=scope).get("content-length", "")
    if length.isdecimal() and (len(length) > 15 or int(length) > most):
        raise Refused(413, sentence)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise Refused(413, sentence)
        if not message.get("more_body"):
            return bytes(body)


def _check_body(body: bytes) -> None:
    """Raise Refused for what is no JSON in UTF-8, for too many values, and for a text that is too long for any box."""
    if b"\0" in body:
        raise Refused(400, SENTENCES[400])
    if has_more_values(body, VALUES.most):
        raise Refused(413, VALUES.tell())
    if len(body) > BOX_CHARACTERS.most and (longest := longest_text(body)) > BOX_CHARACTERS.most:
        raise Refused(413, BOX_CHARACTERS.tell(longest, "a text of this request"))


# ---- Uploads.

Upload = tuple[str, int, float]  # whose it is, its size in bytes, and when it began


class Uploads:
    """ASGI middleware that refuses an upload by its size, and by the size of the files that are kept, all and of its address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._uploads: deque[Upload] = deque()  # the oldest first, with those that arrive now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].endswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        upload = visitor(scope.get("client")), _size_of_upload(Headers(scope=scope)), time.monotonic()
        self._check(*upload)
        self._uploads.append(upload)
        arrived = False

        async def send_on(message: Message) -> None:
            nonlocal arrived
            arrived = arrived or message.get("status") == HTTPStatus.OK
            await send(message)

        try:
            with arriving_files():
                await self._app(scope, receive, send_on)
        finally:
            if not arrived:
                with suppress(ValueError):  # it took longer than KEPT
                    self._uploads.remove(upload)

    def _check(self, address: str, size: int, began: float) -> None:
        """Raise Refused if a file does not fit."""
        while self._uploads and self._uploads[0][-1] < began - KEPT:
            self._uploads.popleft()
        if sum(other for whose, other, _ in self._uploads if whose == address) + size > VISITOR_UPLOADS_MEGABYTES.bytes:
            raise Refused(429, VISITOR_UPLOADS_MEGABYTES.tell(), MINUTE)
        if sum(other for _, other, _ in self._uploads) + size > UPLOADS_MEGABYTES.bytes:
            raise Refused(503, UPLOADS_MEGABYTES.tell(), MINUTE)


def _size_of_upload(headers: Headers) -> int:
    """The size of a request with files, LEAST or more. Raises Refused if it does not say it, or is too large."""
    length = headers.get("content-length", "")
    if not length.isdecimal() or "transfer-encoding" in headers:  # with the latter it may be longer than it says
        raise Refused(411, NO_LENGTH)
    if len(length) > 15 or int(length) > UPLOAD_MEGABYTES.bytes + AROUND:
        raise Refused(413, UPLOAD_MEGABYTES.tell())
    return max(int(length), LEAST)
