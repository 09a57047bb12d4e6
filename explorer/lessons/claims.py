"""What a lesson says of the model, asked of the model."""

import operator
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

from explorer.api import ENDPOINTS
from explorer.base.errors import InputError
from explorer.lessons.lesson import Claim

ASKED = {endpoint.__name__: endpoint for endpoint in ENDPOINTS}
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda found, value: value in found,
}
OVER = {"max": max, "min": min, "mean": fmean}  # in a path: of all numbers of a list, so that no head need be named


def found(claim: Claim) -> Any:
    """What the model answers where the claim looks. Raises InputError for what there is not."""
    if claim.endpoint not in ASKED:
        raise InputError(f"There is no endpoint {claim.endpoint!r}; there are {', '.join(ASKED)}.")
    answer: Any = ASKED[claim.endpoint](**claim.arguments)
    for part in claim.path:
        try:
            if isinstance(answer, list | tuple):
                answer = OVER[part](_numbers(answer)) if part in OVER else answer[int(part)]
            else:
                answer = answer[part]
        except (KeyError, IndexError, ValueError, TypeError):
            has = ", ".join(answer) if isinstance(answer, dict) else type(answer).__name__
            raise InputError(f"{'.'.join(claim.path)} leads nowhere at {part!r}; there is {has}.") from None
    return answer


def holds(claim: Claim) -> bool:
    """Whether it is true. Raises InputError."""
    return TESTS[claim.relation](found(claim), claim.value)


def _numbers(answer: Any) -> Iterator[float]:
    """The numbers of a list, and of the lists in it."""
    for one in answer:
        if isinstance(one, list | tuple):
            yield from _numbers(one)
        else:
            yield one
