"""Rate limit: requests a minute from one address."""

from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.core.hosts import visitor
from explorer.core.limits import REQUESTS
from explorer.core.recent import MINUTE, Recent
from explorer.server.metrics import Metrics
from explorer.server.refusals import refusal

TAKE = "/bx/take/"  # files made of a view
ROOMS = "/bx/rooms/"  # guessing the words of rooms
EXERCISES = "/bx/exercises/"  # checking what a learner's page shows
PAINTED = "/bx/painted.json"  # what a tab opens with, before Gradio has loaded
COUNTED = (TAKE, ROOMS, EXERCISES, PAINTED)


class RequestsAMinute:
    """ASGI middleware that limits the requests a minute that cause work: POST, exports, paintings, checks of exercises, and
    requests to rooms.

    Other GET requests are not counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._asked = Recent()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 429 and a sentence, or pass the request on."""
        asks = scope["type"] == "http" and (scope["method"] == "POST" or scope["path"].startswith(COUNTED))
        if asks and scope.get("client") and not self._may(visitor(scope["client"])):
            self._metrics.refused(HTTPStatus.TOO_MANY_REQUESTS.phrase)
            await refusal(HTTPStatus.TOO_MANY_REQUESTS, REQUESTS.tell(), MINUTE)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, address: str) -> bool:
        most = REQUESTS.most
        if not most:
            return True
        if self._asked.count(address) >= most:
            return False
        self._asked.add(address)
        return True
