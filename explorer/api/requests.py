"""No more requests a minute from one address than there may be."""

import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import JSONResponse

from explorer.base.limits import REQUESTS

MINUTE = 60.0
MOST_ADDRESSES = 10_000  # that are remembered; of more, the one that asked longest ago is forgotten


class RequestsAMinute:
    """An application of ASGI around another one. It counts what asks for something to be done (POST), not what is looked at."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuses with 429 and a sentence, or passes on."""
        asks = scope["type"] == "http" and scope["method"] == "POST"
        if asks and scope.get("client") and not self._may(scope["client"][0]):
            sentence = REQUESTS.tell()  # `detail` is what Gradio's page shows
            refusal = JSONResponse({"error": sentence, "detail": sentence}, 429, {"Retry-After": str(int(MINUTE))})
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, address: str) -> bool:
        most, now = REQUESTS.most, time.monotonic()
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
