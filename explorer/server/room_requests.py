"""Requests to rooms: who sends them, what they contain, and one sentence for what goes wrong."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from explorer.core.errors import BusyError, ExplorerError, InputError
from explorer.core.log import logger
from explorer.core.recent import MINUTE
from explorer.server.refusals import FAILED, refusal
from explorer.teaching.classroom.room import TEACHER, Room
from explorer.teaching.classroom.rooms import ElsewhereError
from explorer.teaching.classroom.seats import Person

FRESH = {"Cache-Control": "no-store"}
Body = dict[str, Any]


def who_asks(request: Request, room: Room) -> Person | str | None:
    """The sender of a request, by its token: the teacher, a person of this room, or None."""
    if not (token := token_of(request)):
        return None
    return TEACHER if room.is_teacher(token) else room.person_of(token)


def token_of(request: Request) -> str:
    """The bearer token of a request, or ''."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""


def over(status: int, sentence: str) -> Response:
    """A refusal that ends a screen's listening: the room is closed, or the person was removed. Others are retried."""
    return JSONResponse({"error": sentence, "over": True}, status)


def busy(error: BusyError) -> Response:
    """A 503: try again in a minute."""
    return refusal(503, str(error), MINUTE)


async def body_of(request: Request) -> Body:
    """The request's JSON object. Raises InputError if it is not one."""
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("Send a JSON object.")
    return body


async def answered(answer: Callable[[], Awaitable[Body]]) -> Response:
    """The answer as JSON, or one sentence for what went wrong."""
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
