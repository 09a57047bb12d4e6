"""Uploads: limits on their total size, and no partial file stays on the disk."""

import errno
import json
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from time import monotonic

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.upload_seams import arriving_files
from explorer.core.hosts import visitor
from explorer.core.limits import UPLOAD_MEGABYTES, UPLOADS_MEGABYTES, VISITOR_UPLOADS_MEGABYTES
from explorer.core.recent import MINUTE
from explorer.server.metrics import Metrics
from explorer.server.refusals import SENTENCES, UPLOAD, refusal

HOUR = 60 * MINUTE  # for which a file is kept at least, since the page may read it again
LEAST = 64 * 1024  # bytes that a file counts for at least, which limits the number of files
AROUND = 64 * 1024  # bytes of the request around its file
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
NO_ROOM = "There is no room for files on this machine just now; try again later."

Flaw = tuple[int, str]


async def without_room(request: Request, error: Exception) -> Response:
    """Answer 507 if the disk is full; other OSErrors are raised again."""
    if not isinstance(error, OSError) or error.errno not in FULL_DISK:
        raise error
    return refusal(HTTPStatus.INSUFFICIENT_STORAGE, NO_ROOM)


async def hung_up(request: Request, error: Exception) -> Response:
    """Answer a client that disconnected in mid-request; nobody reads it, but it is not logged as our failure."""
    return refusal(HTTPStatus.BAD_REQUEST, SENTENCES[400])


@dataclass
class File:
    """An uploaded file."""

    address: str
    bytes: int
    time: float


class Shelf:
    """The uploaded files, and the bytes being uploaded."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, File] = OrderedDict()  # oldest first
        self.arriving: Counter[str] = Counter()  # bytes by address

    def flaw(self, address: str, more: int = 0) -> Flaw | None:
        """Why an address may not upload `more` bytes (status and sentence), or None. Deletes old files if room is needed."""
        since = monotonic() - HOUR
        while self._bytes() + more > UPLOADS_MEGABYTES.bytes:
            path = next(iter(self._files), None)
            if path is None or self._files[path].time > since:
                return 503, UPLOADS_MEGABYTES.tell()
            path.unlink(missing_ok=True)
            del self._files[path]
        own = sum(one.bytes for one in self._files.values() if one.address == address and one.time > since)
        if own + self.arriving[address] + more > VISITOR_UPLOADS_MEGABYTES.bytes:
            return 429, VISITOR_UPLOADS_MEGABYTES.tell()
        return None

    def _bytes(self) -> int:
        return sum(one.bytes for one in self._files.values()) + self.arriving.total()

    def add(self, paths: Iterable[Path], address: str) -> None:
        """Add files that were uploaded from an address."""
        for path in paths:
            if path.is_file():
                self._files[path] = File(address, max(path.stat().st_size, LEAST), monotonic())
                self._files.move_to_end(path)


class Uploads:
    """ASGI middleware that refuses uploads over the limits."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self.shelf = Shelf()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with a sentence, or pass the request on."""
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
            status, sentence = arrival.flaw
            self._metrics.refused(HTTPStatus(status).phrase)
            await refusal(status, sentence, MINUTE)(scope, receive, send)


class _Arrival:
    """A request with files; when a limit is passed, the app sees it as disconnected."""

    def __init__(self, shelf: Shelf, address: str, receive: Receive, send: Send) -> None:
        self.flaw: Flaw | None = None
        self._shelf, self._address, self._receive, self._send = shelf, address, receive, send
        self._bytes, self._answer = 0, b""

    def check(self, more: int = 0) -> None:
        """Set `flaw` if `more` bytes would pass a limit."""
        if self._bytes + more > UPLOAD_MEGABYTES.bytes + AROUND:
            self.flaw = 413, UPLOAD_MEGABYTES.tell()
        else:
            self.flaw = self._shelf.flaw(self._address, more)

    async def receive(self) -> Message:
        """The next message for the app."""
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
            told = json.loads(self._answer or b"null")
        except ValueError:
            told = None
        if isinstance(told, list):
            self._shelf.add([Path(path) for path in told if isinstance(path, str)], self._address)
