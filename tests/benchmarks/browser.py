"""What a person sees of the page in a real browser: when the first picture is there, what moves, how much room it takes."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from explorer.tabs import TABS
from tests.benchmarks import Comparison
from tests.benchmarks.load import app
from tests.benchmarks.startup import server, wait_for
from tests.browser.conftest import FLAGS, browser_path
from tests.ports import free_port
from tests.tabs import open_tab

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
SMALLEST = """() => Math.min(...[...document.querySelectorAll("#bar *, #tabs *")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true })
        && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""


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
    """The first picture beside the first component of a bare Gradio page; what moves, and how large things are."""
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
        yield from looks(browser, port)


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


def looks(browser: Any, port: int) -> Iterator[Comparison]:
    """The bar, the layout shift of each tab, what axe finds, and the smallest type, at 1280 × 720."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.add_init_script(SHIFTS)
    page.goto(f"http://127.0.0.1:{port}/")
    page.locator("gradio-app #overview-routes-picture .bx-flow-box").first.wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    height = page.evaluate("() => document.querySelector('#bar').getBoundingClientRect().height")
    yield Comparison("bar", "the bar", "the limit", height, 150, "px", "ratio at most 1")
    axe = auditor(page)
    smallest = 99.0
    for tab in (tab.label for tab in TABS if not tab.optional):
        page.evaluate("() => { window.shift = 0; }")
        open_tab(page, tab)
        page.wait_for_timeout(300)
        page.wait_for_function("() => !document.body.dataset.busy", timeout=60_000)
        page.wait_for_timeout(1500)
        shift = page.evaluate("() => window.shift")
        yield Comparison(
            f"shift-{tab}", f"what moves on opening {tab}", "the limit", shift, 0.02, "of the window", "ratio at most 1"
        )
        yield Comparison(f"axe-{tab}", f"what axe finds in {tab}, but for what is minor", "one", axe(), 1, "findings", "none")
        smallest = min(smallest, page.evaluate(SMALLEST))
    yield Comparison("type", "the smallest type", "the limit", smallest, 12, "px", "ratio at least 1")


def auditor(page: Any) -> Callable[[], int]:
    """Counts what axe-core finds that is more than minor."""
    from axe_playwright_python.sync_playwright import Axe

    def count() -> int:
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        return sum(len(one["nodes"]) for one in violations if one["impact"] in ("moderate", "serious", "critical"))

    return count
