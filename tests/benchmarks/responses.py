"""How quickly the page responds in a real browser: its first click beside a bare Gradio page's, and what each action takes."""

import statistics
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks import Comparison
from tests.benchmarks.browser import SHIFTS, beside

BARE = """
import gradio, sys
with gradio.Blocks(analytics_enabled=False) as blocks:
    gradio.Textbox("A sentence.", label="A")
    with gradio.Tabs():
        with gradio.Tab("one"):
            gradio.HTML("<p>first</p>")
        with gradio.Tab("two"):
            gradio.HTML("<p id='second'>second</p>")
blocks.launch(server_port=int(sys.argv[1]), quiet=True, ssr_mode=False)
"""
WORDS = ("hat", "dog", "man", "sun", "cat", "map", "car", "cup", "bed", "sea")
PANEL = "[...document.querySelectorAll('#tabs [role=tabpanel]')].find((one) => one.checkVisibility())"
ROUNDS = 5  # first clicks
TIMES = 10  # of every action
# Clicks a tab every 50 ms, as soon as anything that looks like it is there, until what stands in it is seen.
CLICKING = """
window.heard = 0; window.clicked = 0; window.longest = 0;
new PerformanceObserver((list) => {
  if (!window.clicked) for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
const clicking = setInterval(() => {
  const tabs = [...document.querySelectorAll("[role=tab]")].filter((one) => one.textContent.trim() === "TAB");
  const tab = tabs.findLast((one) => one.checkVisibility({ visibilityProperty: true }));
  if (tab?.matches("[aria-selected=true]")) window.heard ||= performance.now();
  const seen = document.querySelector("CONTENT");
  if (seen?.checkVisibility() && seen.textContent.trim()) {
    window.clicked = performance.now();
    clearInterval(clicking);
  } else tab?.click();
}, 50);
"""
# Notes when the last event of a kind came, and the first frame after it in which something is true.
WATCH = """([event, source]) => {
  const seen = new Function("return (" + source + ")");
  window.watch = { since: 0, until: 0 };
  const note = () => { window.watch.since = performance.now(); };
  document.addEventListener(event, note, { capture: true });
  const look = () => {
    if (window.watch.since && seen()) {
      window.watch.until = performance.now();
      document.removeEventListener(event, note, { capture: true });
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
# Notes when the last key was pressed, and the last frame in which the text of a picture changed.
WATCH_TEXT = """(selector) => {
  window.watch = { since: 0, changed: 0 };
  document.addEventListener("keydown", () => { window.watch.since = performance.now(); }, { capture: true });
  let shown = null;
  const look = () => {
    const text = document.querySelector(selector)?.textContent ?? "";
    if (shown !== null && text !== shown) window.watch.changed = performance.now();
    shown = text;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def run() -> Iterator[Comparison]:
    """The first click, what is loaded and moves before it, and the medians of ten of each action."""
    with beside(BARE) as (browser, port, bare):
        yield from first_clicks(browser, port, bare)
        yield from actions(browser, port)


def first_clicks(browser: Any, port: int, bare: int) -> Iterator[Comparison]:
    """From the navigation until a click on a tab is heard and has taken effect, one page after the other."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(first_click(browser, bare, "two", "#second"))
        ours.append(first_click(browser, port, "Look inside", ".bx-cards .bx-token"))
    for name, about in (("heard", "the first click is heard: its tab is marked"), ("seconds", "what it opens is seen")):
        mine, others = (statistics.median(one[name] for one in pages) for pages in (ours, theirs))
        yield Comparison(f"first-click-{name}", about, "on a bare page", mine, others, "s", "ratio at most 1.3")
    for name, about, limit, unit in (
        ("longest", "the longest task before it", 300, "ms"),
        ("bytes", "what is sent until then", 1.2, "MB"),
        ("shift", "what moves on opening the page", 0.02, "of the window"),
    ):
        worst = statistics.median(one[name] for one in ours)
        yield Comparison(f"first-{name}", about, "the limit", worst, limit, unit, "ratio at most 1")


def first_click(browser: Any, port: int, tab: str, content: str) -> dict[str, float]:
    """Seconds until the click was heard and until what it opens was seen; the longest task (ms), the bytes (MB) and the layout
    shift until then.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    received = []
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.add_init_script(SHIFTS + CLICKING.replace("CONTENT", content).replace("TAB", tab))
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.wait_for_function("() => window.clicked", timeout=60_000)
    heard, clicked, longest, shift = page.evaluate("() => [window.heard, window.clicked, window.longest, window.shift]")
    context.close()
    times = {"heard": heard / 1000, "seconds": clicked / 1000}
    return {**times, "longest": longest, "bytes": sum(received) / 1e6, "shift": shift}


def opened(browser: Any, port: int, query: str = "") -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"http://127.0.0.1:{port}/{query}")
    page.wait_for_selector("gradio-app #sections [role=tab]", timeout=60_000)
    page.wait_for_timeout(4000)
    page.wait_for_function("() => !document.body.dataset.busy", timeout=60_000)
    return page


def taken(page: Any, act: Callable[[], None], event: str, seen: str) -> float:
    """Milliseconds from the last `event` of an action to the first frame in which the expression `seen` is true."""
    page.evaluate(WATCH, [event, seen])
    act()
    page.wait_for_function("() => window.watch.until", timeout=30_000)
    found = page.evaluate("() => window.watch.until - window.watch.since")
    page.wait_for_function("() => !document.body.dataset.busy", timeout=30_000)
    page.wait_for_timeout(500)
    return found


def until_unchanged(page: Any, act: Callable[[], None], picture: str) -> float:
    """Milliseconds from the last key to the last change of a picture's text, of a picture that does not show what was typed."""
    page.evaluate(WATCH_TEXT, picture)
    act()
    page.wait_for_timeout(1000)
    page.wait_for_function("() => !document.body.dataset.busy && window.watch.changed > window.watch.since", timeout=30_000)
    page.wait_for_timeout(500)
    return page.evaluate("() => window.watch.changed - window.watch.since")


def actions(browser: Any, port: int) -> Iterator[Comparison]:
    """From the last key to strip and picture, and from a click to what it shows."""

    def medians(name: str, about: str, limit: float, query: str, measure: Callable[[Any, int], float]) -> Comparison:
        page = opened(browser, port, query)
        found = [measure(page, turn) for turn in range(TIMES)]
        page.close()
        return Comparison(name, about, "the limit", statistics.median(found), limit, "ms", "ratio at most 1")

    def type_word(page: Any, turn: int, seen_in: str, *, picture: str = "") -> float:
        def act() -> None:
            page.locator("#text-b textarea").fill("")
            page.locator("#text-b textarea").press_sequentially(WORDS[turn], delay=30)

        if picture:
            return until_unchanged(page, act, picture)
        return taken(page, act, "keydown", f"[...{seen_in}].some((one) => one.textContent.trim() === '{WORDS[turn]}')")

    def click(page: Any, button: Any, changes: str, also: str = "true") -> float:
        before = page.evaluate(f"() => {changes}")
        return taken(page, button.click, "pointerdown", f"{also} && {changes} !== {before!r}")

    def box(page: Any, turn: int) -> float:
        where = f".bx-flow-box[data-row='{2 + turn % 5}'][data-state='6']"
        pressed = f"document.querySelector({(where + '[aria-pressed=true]')!r})"
        return click(page, page.locator(f"gradio-app {where}"), _text("#overview-finding"), pressed)

    def step(page: Any, turn: int, what: str) -> float:
        button = page.get_by_role("button", name=f"{'next' if turn % 2 else 'previous'} {what}")
        return click(page, button, _text("#attention-head-title"))

    def choice(page: Any, turn: int) -> float:
        label = ("All heads by numbers", "One head")[turn % 2]
        part = ("[id^=attention-metric]", "#attention-heads-grid")[turn % 2]
        seen = f"[...document.querySelectorAll({part!r})].some((one) => one.checkVisibility()) && !document.body.dataset.busy"
        return taken(page, page.get_by_label(label, exact=True).first.click, "click", seen)

    strip, drawn = "document.querySelectorAll('#strip .bx-token')", f"{PANEL}.querySelectorAll('button, text, bdi')"
    yield medians("key-strip", "the last key to the strip", 100, "?tab=fill-mask", lambda *at: type_word(*at, strip))
    for name in ("overview", "attention", "tokens"):
        about = f"the last key to the picture of {name}"
        yield medians(f"key-{name}", about, 300, f"?tab={name}", lambda *at: type_word(*at, drawn))
    guesses, about = "#fill-mask-guesses-guesses", "the last key to the picture of fill-mask"
    yield medians("key-fill-mask", about, 300, "?tab=fill-mask", lambda *at: type_word(*at, "", picture=guesses))
    yield medians("box", "a click on a box of the Overview to its routes and their sentence", 150, "", box)
    for what in ("head", "layer"):
        about = f"a step of the {what} to its picture"
        yield medians(what, about, 300, "?tab=attention", lambda *at, what=what: step(*at, what))
    token = lambda page, turn: click(page, page.locator("#strip .bx-token").nth(2 + turn % 5), f"{PANEL}.textContent")  # noqa: E731
    yield medians("token", "a click on a token to the picture of inside a head", 300, "?tab=inside-head", token)
    yield medians("sub-view", "a click on another choice of attention to its picture", 300, "?tab=attention", choice)


def _text(selector: str) -> str:
    return f"(document.querySelector({selector!r})?.textContent ?? '')"
