"""No more requests a minute from one address than there may be."""

from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.base.hosts import visitor
from explorer.base.limits import REQUESTS
from explorer.base.recent import MINUTE, Recent
from explorer.server.metrics import Metrics
from explorer.server.refusals import refusal

TAKE = "/bx/take/"  # where files are made of what is seen
ROOMS = "/bx/rooms/"  # where words may be tried
PAINTED = "/bx/painted.json"  # what a tab opens with, before Gradio is there


class RequestsAMinute:
    """An application of ASGI around another one. It counts what asks for something to be done (POST, what is
    made to be taken away or painted, and what looks for a room), not what is looked at.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._asked = Recent()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses with 429 and a sentence, or passes on."""
        asks = scope["type"] == "http" and (scope["method"] == "POST" or scope["path"].startswith((TAKE, ROOMS, PAINTED)))
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
