"""Coroutines in tests, since Playwright has an event loop in the tests' thread, which excludes a second one; and threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def waited(coroutine: Coroutine) -> Any:
    """The result of a coroutine, run in an event loop in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()  # noqa: TID251


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What `call(i)` returns for i = 0, 1, ..., all called in threads that start together."""
    barrier = threading.Barrier(count)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda i: (barrier.wait(10), call(i))[1], range(count)))
