"""Playwright's `expect`, which looks every 40 ms.

Its own waits 100, 250, 500 and then 1,000 ms between two looks, and so mostly for nothing: a fifth of the time of these tests.
"""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page
from playwright.sync_api import expect as looked_once

PATIENCE = 40_000  # ms: what takes a second on a machine to itself takes ten on a busy one
EVERY = 40  # ms between two looks


class Expected:
    """What is expected of a page or of what is on it: every method of Playwright's assertions."""

    def __init__(self, actual: Page | Locator) -> None:
        self._page = actual if isinstance(actual, Page) else actual.page
        self._assertions = looked_once(actual)

    def __getattr__(self, name: str) -> Callable[..., None]:
        holds = getattr(self._assertions, name)

        def look(*given: Any, timeout: float = PATIENCE, **named: Any) -> None:
            end = time.monotonic() + timeout / 1000
            while True:
                try:
                    return holds(*given, timeout=1, **named)
                except AssertionError:
                    if time.monotonic() > end:
                        raise
                self._page.wait_for_timeout(EVERY)

        return look


def expect(actual: Page | Locator) -> Expected:
    """Wait until what the method that follows says holds, for PATIENCE at most; raises AssertionError."""
    return Expected(actual)
