"""Make every refusal JSON with one sentence of ours, `{"error": ...}`, whichever part of the server refuses."""

import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.core.limits import UPLOAD_MEGABYTES, WAITING, Limit
from explorer.core.log import logger
from explorer.server.metrics import Metrics

BODY_MEGABYTES = Limit(20, "That is too large; send at most {most} MB at once.")  # five thousand long texts are a quarter of it
UPLOAD = "/gradio_api/upload"  # has a limit of its own: `max_file_size` of the launch
UNKNOWN = "There is nothing of this name here; GET /gradio_api/info lists every endpoint and its arguments."
NO_STREAM = b'"404: Not Found"'  # how Gradio says in a stream that a session or event is unknown
SENTENCES = {
    400: 'The request cannot be read; send JSON such as {"data": ["a sentence"]}, or a file as multipart/form-data.',
    401: "This app asks for a name and a password; log in with the right ones.",
    403: "This is closed; the app serves its page, its endpoints and what they made, nothing else.",
    404: UNKNOWN,
    405: "This address takes another method; the endpoints take POST, all else GET.",
    422: 'The request does not fit this address; send {"data": [...]} with the arguments that GET /gradio_api/info lists.',
}
_wanted: ContextVar[list[int] | None] = ContextVar("_wanted", default=None)  # the status of the current request's refusal
FAILED = "That did not work, for a reason the server's log tells; try something else."


def refusal(status: int, sentence: str, wait: float = 0) -> Response:
    """A refusal as JSON; with `wait`, the seconds until the client may try again are in Retry-After."""
    return JSONResponse({"error": sentence}, status, {"Retry-After": str(int(wait))} if wait else None)


def refuse_with(status: HTTPStatus) -> None:
    """Let the refusal of the current request have this status: Gradio answers 500 to whatever fails in a call."""
    if (wanted := _wanted.get()) is not None:
        wanted.append(status)


async def unknown(request: Request, error: Exception) -> Response:
    """Answer 404 to a name or number that Gradio does not find; Gradio would answer 500."""
    return refusal(HTTPStatus.NOT_FOUND, UNKNOWN)


async def unfit(request: Request, error: Exception) -> Response:
    """Answer 422 to a malformed request; FastAPI's own message repeats what was sent, even broken characters."""
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, SENTENCES[HTTPStatus.UNPROCESSABLE_ENTITY])


async def misnamed(request: Request, error: Exception) -> Response:
    """Answer 422 to named arguments that an endpoint does not have; any other TypeError is our bug, and is raised again."""
    if "/call/v2/" not in request.url.path:
        raise error
    return await unfit(request, error)


def wrong_arguments(metrics: Metrics) -> Callable[[Request, Exception], Awaitable[Response]]:
    """A handler that answers 422 to wrong arguments, with the ones that the endpoint takes."""

    async def answer(request: Request, error: Exception) -> Response:
        metrics.refused(HTTPStatus.UNPROCESSABLE_ENTITY.phrase)
        return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))

    return answer


class Refusals:
    """ASGI middleware that gives every refusal a sentence, and logs uncaught errors without what was sent."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; if it fails, log the error and end the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted: list[int] = []
        _wanted.set(wanted)
        answer = _Answer(scope, receive, send, self._metrics, wanted)
        try:
            await self._app(scope, receive, answer.send)
        except Exception as error:
            if not answer.broken_off:  # after such a message, Gradio raises an error, which is expected
                logger.error("A request failed", exc_info=error)
            await answer.fail()


class _Answer:
    """Passes an answer on, but holds a refusal back until its body is complete."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, metrics: Metrics, wanted: list[int]) -> None:
        self._scope, self._receive, self._send, self._metrics, self._wanted = scope, receive, send, metrics, wanted
        self._refused: Message | None = None
        self._body = b""
        self._started = self._ended = self._streams = False
        self.broken_off = False

    async def send(self, message: Message) -> None:
        """Handle one message of the app."""
        if message["type"] == "http.response.start":
            if message["status"] >= HTTPStatus.BAD_REQUEST and not self._started:
                self._refused = message
                return
            self._started = True
            self._streams = (b"content-type", b"text/event-stream; charset=utf-8") in message["headers"]
        elif self._refused is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._refuse(self._refused)
            return
        else:
            self._ended = not message.get("more_body")
            if self._streams and message.get("body", b"").startswith((b"event: error\n", b'data: {"msg":"unexpected_error"')):
                self.broken_off = NO_STREAM in message["body"]
                message = {**message, "body": message["body"].replace(NO_STREAM, json.dumps(UNKNOWN).encode())}
        await self._send(message)

    async def fail(self) -> None:
        """End an answer that the app left unfinished."""
        if not self._started:
            await self._refuse({"status": HTTPStatus.INTERNAL_SERVER_ERROR, "headers": []})
        elif not self._ended:
            await self._send({"type": "http.response.body", "body": b""})

    async def _refuse(self, start: Message) -> None:
        self._started = self._ended = True
        if sentence := _said(self._body):
            status = HTTPStatus.SERVICE_UNAVAILABLE if sentence == WAITING.tell() else [start["status"], *self._wanted][-1]
            await self._send({**start, "status": status})
            await self._send({"type": "http.response.body", "body": self._body})
            return
        self._metrics.refused(HTTPStatus(start["status"]).phrase)
        answer = refusal(start["status"], _sentence(start["status"], self._scope["path"]))
        answer.raw_headers += [(name, value) for name, value in start["headers"] if not name.startswith(b"content-")]
        await answer(self._scope, self._receive, self._send)


def _sentence(status: int, path: str) -> str:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return (UPLOAD_MEGABYTES if path.endswith(UPLOAD) else BODY_MEGABYTES).tell()
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return WAITING.tell()
    return SENTENCES.get(HTTPStatus.UNAUTHORIZED if path.endswith("/login") else status, FAILED)


def _said(body: bytes) -> str:
    """The sentence in a refusal's body, '' if it has none."""
    try:
        said = json.loads(body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return said if isinstance(said, str) else ""
