"""Check a lesson's claims by calling the endpoints."""

from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import Any

from explorer.core.errors import InputError
from explorer.endpoints import ENDPOINTS
from explorer.teaching.lessons.lesson import RELATIONS, Claim

ASKED: dict[str, Callable[..., Any]] = {endpoint.__name__: endpoint for endpoint in ENDPOINTS}
# In a path: of all numbers in a list, so that no head need be named.
OVER: dict[str, Callable[[Iterable[float]], float]] = {"max": max, "min": min, "mean": fmean}


def found(claim: Claim) -> Any:
    """The value at the claim's path in the endpoint's answer. Raises InputError if there is none."""
    return at(endpoint_of(claim)(**claim.arguments), claim.path)


def endpoint_of(claim: Claim) -> Callable[..., Any]:
    """The endpoint that a claim names. Raises InputError if there is none."""
    if claim.endpoint not in ASKED:
        raise InputError(f"No endpoint is called {claim.endpoint!r}. Choose one of {', '.join(ASKED)}.")
    return ASKED[claim.endpoint]


def holds(claim: Claim) -> bool:
    return RELATIONS[claim.relation](found(claim), claim.value)


def _numbers(answer: Any) -> Iterator[float]:
    for part in answer:
        if isinstance(part, list | tuple):
            yield from _numbers(part)
        else:
            yield part


def at(answer: Any, path: tuple[str, ...]) -> Any:
    """The value at a path; after a *, the list of the values at the rest of the path in every item. Raises InputError."""
    if not path:
        return answer
    first, rest = path[0], path[1:]
    try:
        if not isinstance(answer, list | tuple):
            return at(answer[first], rest)
        if first == "*":
            return [at(part, rest) for part in answer]
        return at(OVER[first](_numbers(answer)) if first in OVER else answer[int(first)], rest)
    except (KeyError, IndexError, ValueError, TypeError):
        has = ", ".join(answer) if isinstance(answer, dict) else type(answer).__name__
        raise InputError(f"The path of a claim ends at {first!r}. The answer has {has}.") from None
