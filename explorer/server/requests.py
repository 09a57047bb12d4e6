"""No more requests a minute from one address than there may be."""

from collections import OrderedDict, deque
from http import HTTPStatus
from time import monotonic

from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.base.hosts import visitor
from explorer.base.limits import REQUESTS
from explorer.server.metrics import Metrics
from explorer.server.refusals import refusal

MINUTE = 60.0
TAKE = "/bx/take/"  # where files are made of what is seen
ROOMS = "/bx/rooms/"  # where words may be tried
PAINTED = "/bx/painted.json"  # what a tab opens with, before Gradio is there
MOST_ADDRESSES = 10_000  # that are remembered; of more, the one that asked longest ago is forgotten


class RequestsAMinute:
    """An application of ASGI around another one. It counts what asks for something to be done (POST, what is
    made to be taken away or painted, and what looks for a room), not what is looked at.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses with 429 and a sentence, or passes on."""
        asks = scope["type"] == "http" and (scope["method"] == "POST" or scope["path"].startswith((TAKE, ROOMS, PAINTED)))
        if asks and scope.get("client") and not self._may(visitor(scope["client"])):
            self._metrics.refused(HTTPStatus.TOO_MANY_REQUESTS.phrase)
            answer = refusal(HTTPStatus.TOO_MANY_REQUESTS, REQUESTS.tell())
            answer.headers["Retry-After"] = str(int(MINUTE))
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, address: str) -> bool:
        most, now = REQUESTS.most, monotonic()
        if not most:
            return True
        times = self._times.setdefault(address, deque())
        self._times.move_to_end(address)
        if len(self._times) > MOST_ADDRESSES:
            self._times.popitem(last=False)
        while times and times[0] <= now - MINUTE:
            times.popleft()
        if len(times) >= most:
            return False
        times.append(now)
        return True
