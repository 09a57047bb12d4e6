"""Loops over numbers that numba compiles, for modules that are imported before numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from explorer.core.lazy import LOCK, numba

P = ParamSpec("P")
R = TypeVar("R")

FASTER = {"contract", "reassoc", "nsz", "arcp"}  # sums in any order; NaN and infinity stay what they are


def compiled(*types: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: compile a function at its first call, for arguments of these types, as numba writes them.

    It runs without Python's global lock. What is compiled is cached beside the module or in the user's cache folder, if one of
    them can be written. Other types raise TypeError.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.cache
        def ready() -> Callable[P, R]:
            with LOCK:
                signature = f"void({', '.join(types)})"
                try:
                    return numba.njit(signature, nogil=True, fastmath=FASTER, cache=True)(function)
                except RuntimeError:  # no folder to cache it in
                    return numba.njit(signature, nogil=True, fastmath=FASTER)(function)

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            return ready()(*args, **kwargs)

        return run

    return decorate
