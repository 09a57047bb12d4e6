"""Make every refusal JSON with one sentence, `{"error": ...}`, whichever part of the server refuses."""

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.gradio_seams import FnIndexInferError
from explorer.core.errors import BusyError, ExplorerError, logger
from explorer.core.hosts import MINUTE
from explorer.core.limits import UPLOAD_MEGABYTES, WAITING, Limit
from explorer.server.metrics import REFUSALS

BODY_MEGABYTES = Limit(20, "That is too large. Send at most {most} MB in one request.")  # four times five thousand long texts
UPLOAD = "/gradio_api/upload"  # has a limit of its own: `max_file_size` of the launch
UNKNOWN = "This address does not exist. GET /gradio_api/info lists every endpoint and its arguments."
NO_STREAM = b'"404: Not Found"'  # how Gradio says in a stream that a session or event is unknown
BROKEN_OFF = (b"event: error\n", b'data: {"msg":"unexpected_error"')  # how such a message begins
SENTENCES = {
    400: 'The request cannot be read. Send JSON such as {"data": ["a sentence"]}, or a file as multipart/form-data.',
    401: "This app asks for a name and a password; log in with the right ones.",
    403: "This address is closed. The app serves only its page, its endpoints and their files.",
    404: UNKNOWN,
    405: "This address takes another method. Endpoints take POST, everything else GET.",
    422: 'The request does not fit this address. Send {"data": [...]} with the arguments that GET /gradio_api/info lists.',
}
REST_SECONDS = 30.0  # for the rest of a body that was refused already
FAILED = "Something went wrong. Try something else; the server's log has the details."
NO_ROOM = "The server's disk has no room for files right now. Try again later."
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
_wanted: ContextVar[list[int] | None] = ContextVar("_wanted", default=None)  # the status of the current request's refusal


class Refused(Exception):
    """Ends a request with a status and a sentence; `wait` is the seconds until the client may try again."""

    def __init__(self, status: int, sentence: str, wait: float = 0, kind: str = "", **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.kind = status, kind or HTTPStatus(status).phrase  # the kind is for the metrics
        self._body, self._wait = {"error": sentence, **more}, wait

    def answer(self) -> Response:
        return JSONResponse(self._body, self.status, {"Retry-After": str(int(self._wait))} if self._wait else None)


def refuse_with(status: HTTPStatus) -> None:
    """Let the refusal of the current request have this status: Gradio answers 500 to whatever fails in a call."""
    if (wanted := _wanted.get()) is not None:
        wanted.append(status)


def as_refusal(error: Exception) -> Refused:
    """The refusal for an error that a request to one of our addresses, or Gradio itself, may raise. Others are raised again."""
    match error:
        case Refused():
            return error
        case BusyError():
            return Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(error), MINUTE, kind="BusyError")
        case ExplorerError():
            return Refused(HTTPStatus.BAD_REQUEST, str(error), kind=type(error).__name__)
        case FnIndexInferError() | KeyError():  # a name or number that Gradio does not find
            return Refused(HTTPStatus.NOT_FOUND, UNKNOWN)
        case RequestValidationError() | TypeError():  # FastAPI's own message repeats what was sent
            return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, SENTENCES[422])
        case ClientDisconnect():  # nobody reads it, but it is not logged as our failure
            return Refused(HTTPStatus.BAD_REQUEST, SENTENCES[400])
        case OSError() if error.errno in FULL_DISK:
            return Refused(HTTPStatus.INSUFFICIENT_STORAGE, NO_ROOM)
    raise error


async def _answer(request: Request, error: Exception) -> Response:
    if isinstance(error, TypeError) and "/call/v2/" not in request.url.path:  # with wrong names of arguments; else it is our bug
        raise error
    refused = as_refusal(error)
    REFUSALS.labels(refused.kind).inc()
    return refused.answer()


HANDLERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
    (Refused, ExplorerError, FnIndexInferError, KeyError, RequestValidationError, TypeError, ClientDisconnect, OSError), _answer
)
"""FastAPI's `exception_handlers`."""


class Refusals:
    """ASGI middleware that gives every refusal a sentence, and logs uncaught errors without what was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted: list[int] = []
        _wanted.set(wanted)
        answer = _Answer(scope, receive, send, wanted)
        try:
            await self._app(scope, answer.receive, answer.send)
        except Exception as error:
            refused = error if isinstance(error, Refused) else Refused(HTTPStatus.INTERNAL_SERVER_ERROR, FAILED)
            if refused is not error and not isinstance(error.__cause__, HTTPException):  # Gradio's, for a stream that is unknown
                logger.error("A request failed", exc_info=error)
            await answer.end(refused)


class _Answer:
    """Passes an answer on, but holds a refusal back until its body is complete."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, wanted: list[int]) -> None:
        self._scope, self._receive, self._send, self._wanted = scope, receive, send, wanted
        self._refused: Message | None = None
        self._body = b""
        self._started = self._ended = self._is_read = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._is_read = not message.get("more_body")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
            self._refused = message
        elif self._refused is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._refuse(self._refused)
        else:
            self._started, self._ended = True, message["type"] == "http.response.body" and not message.get("more_body")
            if (body := message.get("body", b"")).startswith(BROKEN_OFF):
                message = {**message, "body": body.replace(NO_STREAM, json.dumps(UNKNOWN).encode())}
            await self._send(message)

    async def _refuse(self, start: Message) -> None:
        """Pass a refusal on if it has a sentence, else with one of SENTENCES."""
        if sentence := _sentence_in(self._body):
            self._started = self._ended = True
            status = HTTPStatus.SERVICE_UNAVAILABLE if sentence == WAITING.tell() else [start["status"], *self._wanted][-1]
            await self._send({**start, "status": status})
            await self._send({"type": "http.response.body", "body": self._body})
            return
        refused = Refused(start["status"], _sentence_for(start["status"], self._scope["path"]))
        await self.end(refused, [(name, value) for name, value in start["headers"] if not name.startswith(b"content-")])

    async def end(self, refused: Refused, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Answer with a refusal, or end the answer that has begun.

        It waits until the client has sent all, or for REST_SECONDS: busy sending, it would not read why.
        """
        if self._started:
            if not self._ended:
                await self._send({"type": "http.response.body", "body": b""})
            return
        self._started = self._ended = True
        REFUSALS.labels(refused.kind).inc()
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                while not self._is_read:
                    await self.receive()
        answer = refused.answer()
        answer.raw_headers += headers
        await answer(self._scope, self._receive, self._send)


def _sentence_for(status: int, path: str) -> str:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return (UPLOAD_MEGABYTES if path.endswith(UPLOAD) else BODY_MEGABYTES).tell()
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return WAITING.tell()
    return SENTENCES.get(HTTPStatus.UNAUTHORIZED if path.endswith("/login") else status, FAILED)


def _sentence_in(body: bytes) -> str:
    try:
        said = json.loads(body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return said if isinstance(said, str) else ""
