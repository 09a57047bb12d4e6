"""Scripts and styles of our own pages, which browsers ask for again each time: another version of the app has others."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

ASKED_AGAIN = {"Cache-Control": "no-cache"}


def served(make: Callable[[], str], media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a route that answers what `make` returns."""

    async def answer(request: Request) -> Response:
        return Response(make(), media_type=media_type, headers=ASKED_AGAIN)

    return answer
