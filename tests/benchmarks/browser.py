"""When the first picture is there in a real browser, and the view of a link."""

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.benchmarks import Comparison
from tests.benchmarks.startup import app, server, wait_for
from tests.browser.conftest import FLAGS, browser_path
from tests.ports import free_port

BARE = """
import gradio, sys
with gradio.Blocks(analytics_enabled=False) as blocks:
    gradio.HTML("<p id='first'>first</p>")
    later = gradio.HTML()
    blocks.load(lambda: "<p id='loaded'>loaded</p>", None, later)
blocks.launch(server_port=int(sys.argv[1]), quiet=True, ssr_mode=False)
"""
ROUNDS = 5
GRID = ":is([data-of=attention-heads-grid], gradio-app #attention-heads-grid) canvas"  # as it is first drawn, or by the page
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}  # 1.6 Mbit/s
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


def run() -> Iterator[Comparison]:
    """The first picture beside the first component of a bare Gradio page, and a link's view beside its first event."""
    with beside(BARE) as (browser, port, bare):
        for name, slow in (("first-picture", False), ("first-picture-slow", True)):
            ours, theirs = [], []
            for _ in range(1 if slow else ROUNDS):
                ours.append(seen(browser, port, ".bx-flow-box", slow))
                theirs.append(seen(browser, bare, "#first", slow))
            times = statistics.median(ours), statistics.median(theirs)
            where = " at 1.6 Mbit/s, a quarter of the processor" if slow else ""
            first = f"the first component of a bare page{where}"
            yield Comparison(name, f"the first picture{where}", first, *times, "s", "ratio at most 1.3")
        ours, theirs = [], []
        for number in range(ROUNDS):  # another text each time
            ours.append(seen(browser, port, GRID, query=f"?tab=attention&a=Cats+drink+{number}."))
            theirs.append(seen(browser, bare, "#loaded"))
        times = statistics.median(ours), statistics.median(theirs)
        yield Comparison("link", "a link's view", "the first event of a bare page", *times, "s", "ratio at most 1.3")


def seen(browser: Any, port: int, selector: str, slow: bool = False, query: str = "") -> float:
    """Seconds from the navigation until something is there, in a context without a cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    if slow:
        devtools = context.new_cdp_session(page)
        devtools.send("Network.enable")
        devtools.send("Network.emulateNetworkConditions", SLOW)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    start = time.perf_counter()
    page.goto(f"http://127.0.0.1:{port}/{query}", wait_until="commit")
    page.locator(selector).first.wait_for(timeout=180_000)
    taken = time.perf_counter() - start
    context.close()
    return taken
