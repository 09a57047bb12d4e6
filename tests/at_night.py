"""Parameters of which the suite runs a few, and `pytest -m nightly` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def at_night(values: Iterable[Any], but: Iterable[Any]) -> list[Any]:
    """All values as parameters, those that are not in `but` for the nightly tests only."""
    some = list(but)
    return [pytest.param(value, marks=[] if value in some else pytest.mark.nightly) for value in values]
