"""A real browser for the tests of this folder, and a page that nothing may go wrong on."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest

from tests.browser.expecting import PATIENCE

HERE = Path(__file__).parent
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
WINDOW = {"width": 1440, "height": 900}
FAILED = pytest.StashKey[bool]()
FULL = 240  # blocks on the page that a module shares: every event goes through all of them, and to open another takes less
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


def browser_path() -> str | None:
    """The browser on this machine; the environment variable BROWSER overrules the search."""
    named = os.environ.get("BROWSER")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


class Chromium:
    """A browser whose contexts are lent to one page after another.

    A context keeps the scripts that it has compiled: a page opens there in a second, and in a new context in three. What a page
    has stored is cleared when it is closed, so that the next begins as in a new context.
    """

    def __init__(self, browser) -> None:
        self._browser, self._free = browser, []

    def page(self, viewport=WINDOW, color_scheme=None, reduced_motion="reduce", **options):
        """A page that no other shares a context with; a context with other `options` is used once.

        It moves nothing unless it is asked to, since a sixth of the browser's time would go into frames between two pictures.
        """
        lent = self._free.pop() if self._free and not options else self._browser.new_context(viewport=WINDOW, **options)
        lent.set_default_timeout(PATIENCE)
        page = lent.new_page()
        look_at(page, viewport, color_scheme, reduced_motion)
        page.used_once, page.origins = bool(options), set()
        page.on("framenavigated", lambda frame: page.origins.add("/".join(frame.url.split("/")[:3])))
        return page

    def close(self, page) -> None:
        """Close a page and what it opened, and forget what it stored."""
        context = page.context
        if page.used_once or page.problems or page.is_closed():
            context.close()
            return
        devtools = context.new_cdp_session(page)
        for origin in page.origins:
            devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        context.clear_cookies()
        context.clear_permissions()
        context.set_offline(False)
        for one in context.pages:
            one.close()
        self._free.append(context)


@pytest.fixture(scope="module", autouse=True)
def soon_done():
    """Behind a long text the words of a sentence are hidden in turn for a second, not for eight: no test here waits for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("explorer.ui.answers.PATIENCE", 1.0)
        yield


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests; a machine without one skips them."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine; set BROWSER to its path")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield Chromium(chromium)
        chromium.close()


@pytest.fixture
def new_page(browser):
    """Opens pages, each in a context of its own: `new_page(viewport={"width": 420, "height": 900})`.

    The test fails at its end if a page logged an error, raised one, opened a dialog or asked another machine;
    `page.problems` lists what happened so far, and a test may clear what it provoked on purpose.
    """
    pages = []

    def opened(**options):
        pages.append(watched(browser, **options))
        return pages[-1]

    yield opened
    for page in pages:
        browser.close(page)
    fail_for(pages)


@pytest.fixture(scope="module")
def kept(browser) -> Iterator[dict]:
    """The pages that the tests of a module share, unless marked `own_page`: one for each kind of context; none at first.

    No other module goes on with them: a tab that no link leads to keeps its choice and its settings.
    """
    pages = {}
    yield pages
    for page in pages.values():
        browser.close(page)


@pytest.fixture
def page(new_page) -> Iterator:
    """A fresh page, 1440 × 900."""
    return new_page()


@pytest.fixture
def from_disk(new_page, tmp_path):
    """Opens the text of a page as a file, in a window of 1280 × 900 with the network off; options are those of `new_page`."""

    def show(text, **options):
        window, path = new_page(viewport={"width": 1280, "height": 900}, **options), tmp_path / "view.html"
        window.context.set_offline(True)
        path.write_text(text, encoding="utf-8")
        window.goto(path.as_uri())
        window.wait_for_selector("body[data-drawn]")
        window.wait_for_function("() => !document.querySelector('[data-drawing]')")  # charts are drawn in turn, afterwards
        return window

    return show


@pytest.fixture
def open_app(request, browser, new_page, served, kept):
    """Lets the shared page go where a query leads, and waits until its first view is there.

    A test that is marked `own_page` gets a fresh page, and so does the first that asks for another kind of context, and one that
    would get a full page. To open one takes two seconds, to go where a link leads half of one.
    """
    from tests.browser.expecting import expect
    from tests.browser.steps import chips, visit

    own_page = request.node.get_closest_marker("own_page")
    full = [kind for kind, page in kept.items() if not own_page and page.locator("#tabs .block").count() > FULL]
    for page in [kept.pop(kind) for kind in full]:
        browser.close(page)
        fail_for([page])  # of what came after its last test

    def opened(query: str = "", viewport=WINDOW, reduced_motion="reduce", **options):
        kind = repr(sorted(options.items()))
        if kind in kept and not own_page:
            look_at(kept[kind], viewport, options.get("color_scheme"), reduced_motion)
            visit(kept[kind], query)
            return kept[kind]
        options |= {"viewport": viewport, "reduced_motion": reduced_motion}
        page = new_page(**options) if own_page else watched(browser, **options)
        if not own_page:
            kept[kind] = page
        page.goto(f"{served}/{query}")
        expect(page.locator("#first")).to_have_count(0)  # under it the page is hidden
        expect(chips(page).first).to_be_attached()  # hidden where a tab does not read the texts
        return page

    yield opened
    pages = list(kept.values())
    if any(page.problems for page in pages) or request.node.stash.get(FAILED, False):  # nobody goes on with it
        kept.clear()
        for page in pages:
            browser.close(page)
    fail_for(pages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def look_at(page, viewport, color_scheme, reduced_motion) -> None:
    """Show a page in a window of this size, on a screen, with these wishes."""
    page.set_viewport_size(viewport)
    page.emulate_media(media="screen", color_scheme=color_scheme, reduced_motion=reduced_motion)


def watched(browser, **options):
    """A page in a context of its own, and what goes wrong on it."""
    page = browser.page(**options)
    page.problems = []
    _watch(page)
    return page


def fail_for(pages) -> None:
    problems = [problem for page in pages for problem in page.problems]
    assert not problems, "\n".join(problems)


def _watch(page) -> None:
    def leaves(url: str) -> bool:
        address = urlparse(url)
        return address.scheme not in ("data", "blob", "about", "file") and address.hostname not in LOCAL_HOSTS

    def console(message) -> None:
        if message.type == "error":
            page.problems.append(f"console error: {message.text} ({message.location.get('url', '')})")

    def request(asked) -> None:
        if leaves(asked.url):
            page.problems.append(f"request to another machine: {asked.url}")

    def dialog(opened) -> None:
        page.problems.append(f"dialog: {opened.message}")
        opened.dismiss()

    page.on("console", console)
    page.on("pageerror", lambda error: page.problems.append(f"page error: {error}"))
    page.on("request", request)
    page.on("dialog", dialog)
