"""Coroutines (Playwright has an event loop in the tests' thread, which excludes a second one), threads, steps and clocks."""

import asyncio
import importlib
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest


def waited(coroutine: Coroutine) -> Any:
    """The result of a coroutine, run in an event loop in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()  # noqa: TID251


def drain(steps: Generator) -> tuple[list[Any], Any]:
    """What a generator yields, and what it returns."""
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as done:
            return seen, done.value


def wait_until(true: Callable[[], object], seconds: float = 60) -> None:
    """Return when something is true. Fails after so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What `call(i)` returns for i = 0, 1, ..., all called in threads that start together."""
    barrier = threading.Barrier(count)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda i: (barrier.wait(10), call(i))[1], range(count)))


def set_clock(monkeypatch: pytest.MonkeyPatch, module: str, monotonic: Callable[[], float]) -> None:
    """Let `time.monotonic` be another function in one module of explorer: in all, it would reach a served app."""
    assert importlib.import_module(module).time.monotonic
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(**{**vars(time), "monotonic": monotonic}))
