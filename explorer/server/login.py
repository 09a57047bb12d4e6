"""The login of an app with a password: which routes need it, and a limit on wrong passwords."""

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import wraps
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.gradio_seams import may_enter
from explorer.core.hosts import visitor
from explorer.core.recent import MINUTE, Recent
from explorer.server.metrics import Metrics
from explorer.server.refusals import SENTENCES, refusal

MOST_WRONG = 30  # passwords a minute from one address: as many as there are people in a school with a single one
TOO_MANY_WRONG = "Too many wrong passwords came from here; wait a minute."
LOGIN = "/login"
API = "/gradio_api/"
BEFORE_LOGIN = frozenset({"app_id", "login_check", "startup-events", "theme.css", "token", "user"})  # for the login page


Answer = Callable[[Request], Awaitable[Response]]


def behind_login(answer: Answer) -> Answer:
    """Decorator of a route outside Gradio's: who may not enter is refused with 401 and a sentence."""

    @wraps(answer)
    async def checked(request: Request) -> Response:
        if not await may_enter(request):
            return refusal(HTTPStatus.UNAUTHORIZED, SENTENCES[HTTPStatus.UNAUTHORIZED])
        return await answer(request)

    return checked


async def check_login(request: Request) -> None:
    """A FastAPI dependency of every route: Gradio itself checks the login at most of its routes, but not at all."""
    path = request.scope["path"]
    if path.startswith(API) and path.removeprefix(API).rstrip("/") not in BEFORE_LOGIN and not await may_enter(request):
        raise HTTPException(HTTPStatus.UNAUTHORIZED)


class Guesses:
    """ASGI middleware that limits the wrong passwords a minute from one address; after that, passwords are not checked.

    Passwords being checked count as wrong until they are found right, so that many at once cannot pass the limit.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._wrong = Recent()
        self._looked_at: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 429 and a sentence, or pass the request on."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"].rstrip("/") != LOGIN:
            await self._app(scope, receive, send)
            return
        address = visitor(scope.get("client"))
        if self._wrong.count(address) + self._looked_at[address] >= MOST_WRONG:
            self._metrics.refused(HTTPStatus.TOO_MANY_REQUESTS.phrase)
            await refusal(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_WRONG, MINUTE)(scope, receive, send)
            return
        await self._look_at(address, scope, receive, send)

    async def _look_at(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.BAD_REQUEST:
                self._wrong.add(address)
            await send(message)

        self._looked_at[address] += 1
        try:
            await self._app(scope, receive, send_on)
        finally:
            self._looked_at[address] -= 1
            if not self._looked_at[address]:
                del self._looked_at[address]
