"""Refuse calls with wrong arguments before they are queued, and say which arguments the endpoint takes."""

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from explorer.api.gradio_seams import may_enter
from explorer.core.errors import InputError
from explorer.endpoints import ENDPOINTS

BY_NAME = "/call/v2/"  # in the path of calls with named arguments; other calls send a list


class ArgumentsError(InputError):
    """A wrong number of arguments, or names that the endpoint does not have."""


@dataclass(frozen=True)
class Signature:
    """An endpoint's arguments."""

    endpoint: str
    names: tuple[str, ...]
    required: frozenset[str]

    def check_list(self, data: object) -> None:
        """Raise ArgumentsError unless there is one value per argument; FastAPI refuses what is not a list."""
        if isinstance(data, list) and len(data) != len(self.names):
            number = f"{len(self.names)} argument{'' if len(self.names) == 1 else 's'}"
            order = " in this order" if len(self.names) > 1 else ""
            raise ArgumentsError(f"/{self.endpoint} takes {number}{order}, and not {len(data)}: {', '.join(self.names)}.")

    def check_names(self, given: Collection[str]) -> None:
        """Raise ArgumentsError for an unknown name or a missing argument; the message does not repeat what was sent."""
        if self.required <= set(given) <= {*self.names, "oauth_token"}:  # Gradio removes oauth_token
            return
        needed = [name for name in self.names if name in self.required]
        listed = ", ".join(self.names)
        rest = f"; of these it needs {' and '.join(needed)}" if needed and len(needed) < len(self.names) else ""
        raise ArgumentsError(f"/{self.endpoint} takes arguments of these names only: {listed}{rest}.")


def signatures() -> Mapping[str, Signature]:
    """The signatures of all endpoints by name."""
    return {endpoint.__name__: _signature(endpoint) for endpoint in ENDPOINTS}


def _signature(endpoint: Any) -> Signature:
    parameters = inspect.signature(endpoint).parameters
    required = frozenset(name for name, one in parameters.items() if one.default is inspect.Parameter.empty)
    return Signature(endpoint.__name__, tuple(parameters), required)


SIGNATURES = signatures()


async def check_arguments(request: Request) -> None:
    """A FastAPI dependency of every route: raises ArgumentsError. The body was read before; Starlette keeps it."""
    signature = SIGNATURES.get(request.path_params.get("api_name", ""))
    if request.method != "POST" or signature is None or not await may_enter(request):
        return
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        return  # FastAPI refuses it
    if not isinstance(body, dict):
        return
    if BY_NAME in request.url.path:
        signature.check_names(body)
    else:
        signature.check_list(body.get("data"))
