"""When the first picture is there in a real browser, and the view of a link."""

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
STARTS = 20  # of a server, each with a browser that waits for it
GRID = ":is([data-of=attention-heads-grid], gradio-app #attention-heads-grid) canvas"  # as it is first drawn, or by the page
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}  # 1.6 Mbit/s
SINCE_ANSWER = """(selector) => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility())
    && (performance.now() - performance.getEntriesByType("navigation")[0].responseStart) / 1000"""
SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@contextmanager
def chromium() -> Iterator[Any]:
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


def cold() -> Iterator[Comparison]:
    """The first picture of a server that starts while the browser waits for it, beside the first component of a bare page."""
    ours, theirs = [], []
    with chromium() as browser:
        for _ in range(STARTS):
            ours.append(seen_of_a_start(browser, ["app.py", "--port"], ".bx-flow-box"))
            theirs.append(seen_of_a_start(browser, ["-c", BARE], "#first"))
    messages = sum(count for _, count in ours)
    times = [statistics.median(taken for taken, _ in found) for found in (ours, theirs)]
    what = f"the first picture after a cold server answers ({messages} messages in {STARTS} starts)"
    yield Comparison("cold", what, "the first component of a bare page", *times, "s", "at most 0.6 s, no message")


def seen_of_a_start(browser: Any, command: list[str], selector: str) -> tuple[float, int]:
    """Seconds from a new server's first answer until something is there, and the messages that the page shows 5 s later."""
    port = free_port()
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    with server([*command, str(port)]):
        deadline = time.monotonic() + 120
        while page.url in ("about:blank", "chrome-error://chromewebdata/") and time.monotonic() < deadline:
            with suppress(Exception):  # refused until the server is there
                page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
        taken = page.wait_for_function(SINCE_ANSWER, arg=selector, timeout=120_000).json_value()
        page.locator("gradio-app [role=tab], gradio-app #loaded").first.wait_for(timeout=120_000)
        page.wait_for_timeout(5000)
        messages = page.locator(".toast-body").count()
    context.close()
    return taken, messages
