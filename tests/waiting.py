"""Coroutines in tests: Playwright runs a loop in the thread of the tests, in which no other may be started."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def waited(coroutine: Coroutine) -> Any:
    """What a coroutine returns, run in a loop and a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
