"""A browser beside the app and a bare page, and what it measures of a page that opens."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.benchmarks.startup import app, server, wait_for
from tests.browser.conftest import FLAGS, browser_path
from tests.ports import free_port

SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of one's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def beside(script: str) -> Iterator[tuple[Any, int, int]]:
    """A browser, the port of the app, with its model loaded, and that of a bare page that a script serves."""
    bare = free_port()
    with ExitStack() as stack:
        stack.enter_context(server(["-c", script, str(bare)]))
        wait_for(bare)
        port = stack.enter_context(app())
        browser = stack.enter_context(chromium())
        yield browser, port, bare
