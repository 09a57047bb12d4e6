"""What requests may bring: how many a minute from one address, how large a body, and how much room for uploaded files."""

import json
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.upload_seams import arriving_files
from explorer.core.formats import has_more_values, longest_text
from explorer.core.hosts import MINUTE, Recent, visitor
from explorer.core.limits import BOX_CHARACTERS, REQUESTS, UPLOAD_MEGABYTES, UPLOADS_MEGABYTES, VISITOR_UPLOADS_MEGABYTES, Limit
from explorer.server.refusals import BODY_MEGABYTES, SENTENCES, UPLOAD, Refused

TAKE = "/bx/take/"  # files made of a view
ROOMS = "/bx/rooms/"  # guessing the words of rooms
EXERCISES = "/bx/exercises/"  # checking what a learner's page shows
PAINTED = "/bx/painted.json"  # what a tab opens with, before Gradio has loaded
COUNTED = (TAKE, ROOMS, EXERCISES, PAINTED)
VALUES = Limit(  # each word or number; parsing one takes a microsecond, during which no other request is answered
    200_000, "There are more than {most} values in this request; send a part of them."
)
KILOBYTE = 1_024
SMALL = {"/login": 16, "/bx/": 256}  # KB, by the start of the path: a name and a password; an action in a room
TOO_LARGE = "That is too large for this address; send at most {} KB."
HOUR = 60 * MINUTE  # for which a file is kept at least, since the page may read it again
LEAST = 64 * KILOBYTE  # bytes that a file counts for at least, which limits the number of files
AROUND = 64 * KILOBYTE  # bytes of the request around its file


class RequestsAMinute:
    """Limits the requests a minute that cause work: every POST, and COUNTED."""

    def __init__(self) -> None:
        self._asked = Recent()

    def check(self, scope: Scope) -> None:
        """Count a request. Raises Refused."""
        causes_work = scope["method"] == "POST" or scope["path"].startswith(COUNTED)
        if causes_work and scope.get("client") and REQUESTS.most:
            address = visitor(scope["client"])
            if self._asked.count(address) >= REQUESTS.most:
                raise Refused(HTTPStatus.TOO_MANY_REQUESTS, REQUESTS.tell(), MINUTE)
            self._asked.add(address)


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


@dataclass
class File:
    address: str
    bytes: int
    time: float


class Shelf:
    def __init__(self) -> None:
        self._files: OrderedDict[Path, File] = OrderedDict()  # oldest first
        self.arriving: Counter[str] = Counter()  # bytes by address

    def flaw(self, address: str, more: int = 0) -> Refused | None:
        """Why an address may not upload `more` bytes, or None. Deletes old files if room is needed."""
        since = monotonic() - HOUR
        while self._bytes() + more > UPLOADS_MEGABYTES.bytes:
            path = next(iter(self._files), None)
            if path is None or self._files[path].time > since:
                return Refused(503, UPLOADS_MEGABYTES.tell(), MINUTE)
            path.unlink(missing_ok=True)
            del self._files[path]
        own = sum(file.bytes for file in self._files.values() if file.address == address and file.time > since)
        if own + self.arriving[address] + more > VISITOR_UPLOADS_MEGABYTES.bytes:
            return Refused(429, VISITOR_UPLOADS_MEGABYTES.tell(), MINUTE)
        return None

    def _bytes(self) -> int:
        return sum(file.bytes for file in self._files.values()) + self.arriving.total()

    def add(self, paths: Iterable[Path], address: str) -> None:
        for path in paths:
            if path.is_file():
                self._files[path] = File(address, max(path.stat().st_size, LEAST), monotonic())
                self._files.move_to_end(path)


class Uploads:
    def __init__(self, app: ASGIApp) -> None:
        self._app, self.shelf = app, Shelf()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].endswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        arrival = _Arrival(self.shelf, visitor(scope.get("client")), receive, send)
        length = Headers(scope=scope).get("content-length", "")
        arrival.check(int(length[:15]) if length.isdecimal() else 0)
        if arrival.flaw is None:
            try:
                with arriving_files():
                    await self._app(scope, arrival.receive, arrival.send)
            finally:
                arrival.end()
        if arrival.flaw is not None:
            raise arrival.flaw


class _Arrival:
    """A request with files; when a limit is passed, the app sees it as disconnected."""

    def __init__(self, shelf: Shelf, address: str, receive: Receive, send: Send) -> None:
        self.flaw: Refused | None = None
        self._shelf, self._address, self._receive, self._send = shelf, address, receive, send
        self._bytes, self._answer = 0, b""

    def check(self, more: int = 0) -> None:
        """Set `flaw` if `more` bytes would pass a limit."""
        if self._bytes + more > UPLOAD_MEGABYTES.bytes + AROUND:
            self.flaw = Refused(413, UPLOAD_MEGABYTES.tell())
        else:
            self.flaw = self._shelf.flaw(self._address, more)

    async def receive(self) -> Message:
        message = await self._receive()
        came = len(message.get("body", b""))
        self._bytes += came
        self._shelf.arriving[self._address] += came
        self.check()
        return {"type": "http.disconnect"} if self.flaw else message

    async def send(self, message: Message) -> None:
        """Send the app's answer (the paths of the files), unless the upload was refused meanwhile."""
        if self.flaw is None:
            self._answer += message.get("body", b"")
            await self._send(message)

    def end(self) -> None:
        """Count the upload as finished, and keep its files' paths."""
        self._shelf.arriving[self._address] -= self._bytes
        self._shelf.arriving += Counter()  # drops addresses with nothing arriving
        try:
            answer = json.loads(self._answer or b"null")
        except ValueError:
            answer = None
        if isinstance(answer, list):
            self._shelf.add([Path(path) for path in answer if isinstance(path, str)], self._address)
