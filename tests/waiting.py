"""Run coroutines in tests: Playwright has an event loop in the tests' thread, which excludes a second one there."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def waited(coroutine: Coroutine) -> Any:
    """The result of a coroutine, run in an event loop in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()  # noqa: TID251
