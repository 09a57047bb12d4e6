"""What is asked of a room and answered, as requests: who asks, what was sent, and one sentence for what goes wrong."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from explorer.base.errors import BusyError, ExplorerError, InputError
from explorer.base.log import logger
from explorer.base.recent import MINUTE
from explorer.classroom.room import TEACHER, Room
from explorer.classroom.rooms import ElsewhereError
from explorer.classroom.seats import Person
from explorer.server.refusals import FAILED, refusal

FRESH = {"Cache-Control": "no-store"}
Body = dict[str, Any]


def who_asks(request: Request, room: Room) -> Person | str | None:
    """The teacher, a person, or nobody of this room: what the token that is sent says."""
    if not (token := token_of(request)):
        return None
    return TEACHER if room.is_teacher(token) else room.person_of(token)


def token_of(request: Request) -> str:
    """The token that is sent, or ''."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""


def over(status: int, sentence: str) -> Response:
    """That a screen need not ask again: the room is gone, or its person is. Only these words end its listening."""
    return JSONResponse({"error": sentence, "over": True}, status)


def busy(error: BusyError) -> Response:
    """That it is to be asked again a little later."""
    return refusal(503, str(error), MINUTE)


async def body_of(request: Request) -> Body:
    """What was sent. Raises InputError for what is no JSON object."""
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("Send a JSON object.")
    return body


async def answered(answer: Callable[[], Awaitable[Body]]) -> Response:
    """The answer, or one sentence for what went wrong."""
    try:
        return JSONResponse(await answer(), headers=FRESH)
    except PermissionError as error:
        return refusal(403, str(error))
    except BusyError as error:
        return busy(error)
    except ElsewhereError as error:
        return refusal(404, str(error))
    except ExplorerError as error:
        return refusal(400, str(error))
    except Exception as error:
        logger.error("A room failed", exc_info=error)
        return refusal(500, FAILED)
