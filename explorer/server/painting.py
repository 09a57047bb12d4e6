"""Serve what a tab opens with to a page where Gradio is still loading, by the parameters of a link."""

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.core.errors import InputError
from explorer.export import links
from explorer.page.blocks import PageBlocks
from explorer.page.examples import first_subject
from explorer.server.login import behind_login
from explorer.server.metrics import Metrics
from explorer.server.requests import PAINTED
from explorer.server.taking import FRESH, call_of, in_turn, timed


def painting_routes(blocks: PageBlocks, metrics: Metrics) -> list[Route]:
    """The route: `bx/painted.json?tab=attention`; with `answers=hidden` answers are left out."""

    def made(parameters: dict[str, str]) -> bytes:
        """Raises InputError for a link that cannot be followed exactly; the page itself will explain it once it is there."""
        answers = parameters.pop("answers", "") != "hidden"
        place = links.read(parameters, first_subject())
        if place.told:
            raise InputError(place.told[0])
        return blocks.paint(place, answers)

    async def painted(request: Request, parameters: dict[str, str]) -> Response:
        answer = await in_turn(blocks, call_of(request), lambda: made(parameters))
        return Response(answer, media_type="application/json", headers=FRESH)

    @behind_login
    async def answer(request: Request) -> Response:
        parameters = dict(parse_qsl(request.url.query[: links.LONGEST], keep_blank_values=True))
        return await timed("/painted", metrics, lambda: painted(request, parameters))

    return [Route(PAINTED, answer)]
