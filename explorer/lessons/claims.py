"""What a lesson says of the model, asked of the model."""

import operator
from collections.abc import Callable
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


def found(claim: Claim) -> Any:
    """What the model answers where the claim looks. Raises InputError for what there is not."""
    if claim.endpoint not in ASKED:
        raise InputError(f"There is no endpoint {claim.endpoint!r}; there are {', '.join(ASKED)}.")
    answer: Any = ASKED[claim.endpoint](**claim.arguments)
    for part in claim.path:
        try:
            answer = answer[int(part)] if isinstance(answer, list) else answer[part]
        except (KeyError, IndexError, ValueError, TypeError):
            has = ", ".join(answer) if isinstance(answer, dict) else type(answer).__name__
            raise InputError(f"{'.'.join(claim.path)} leads nowhere at {part!r}; there is {has}.") from None
    return answer


def holds(claim: Claim) -> bool:
    """Whether it is true. Raises InputError."""
    return TESTS[claim.relation](found(claim), claim.value)
