"""Playwright's `expect`, which waits for an element first as one waits for it before a click.

When what it looks for is not there, `expect` describes the whole page, for a message that is seen at the end only, and looks
again after 100, 250, 500 and then 1,000 ms. On our page that was a sixth of the browser's work.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from playwright.sync_api import Error, Locator, LocatorAssertions, Page, PageAssertions
from playwright.sync_api import expect as described

PATIENCE = 40_000  # ms: what takes a second on a machine to itself takes ten on a busy one
STATES: dict[str, Literal["visible", "hidden"]] = {"to_be_visible": "visible", "to_be_hidden": "hidden"}
# These hold, or may hold, where there is no such element.
OF_NONE = ("to_have_count", "not_to_have_count", "not_to_be_attached", "not_to_be_visible")

described.set_options(timeout=PATIENCE)


class Expected:
    """What is expected of an element: every method of Playwright's assertions."""

    def __init__(self, locator: Locator) -> None:
        self._locator, self._assertions = locator, described(locator)

    def __getattr__(self, name: str) -> Callable[..., None]:
        holds = getattr(self._assertions, name)

        def wait(*given: Any, timeout: float = PATIENCE, **named: Any) -> None:
            end = time.monotonic() + timeout / 1000
            several = given and isinstance(given[0], list)
            if name not in OF_NONE and not several and False not in named.values():  # `attached=False` holds of none, too
                with suppress(Error):  # which is told below
                    self._locator.wait_for(state=STATES.get(name, "attached"), timeout=timeout)
            holds(*given, timeout=max(1.0, 1000 * (end - time.monotonic())), **named)

        return wait


def expect(actual: Locator | Page) -> LocatorAssertions | PageAssertions | Expected:
    """Wait until what the method that follows says holds, for PATIENCE at most; raises AssertionError."""
    return Expected(actual) if isinstance(actual, Locator) else described(actual)
