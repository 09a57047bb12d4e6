"""Serve the guide: its pages and its search, as HTML that loads nothing from other sites."""

from collections.abc import Callable
from functools import cache
from html import escape
from string import Template

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.guide import glossary
from explorer.guide.pages import FIRST, FOLDER, Page, order, pages
from explorer.guide.rendering import mark
from explorer.guide.search import LONGEST, search, words_of
from explorer.server.gate import behind_login
from explorer.server.refusals import Refused
from explorer.server.routes import ASKED_AGAIN, serve_text

ADDRESS = "/bx/guide"
GLOSSARY = "/bx/glossary.json"
NO_PAGE = "The guide has no such page; open bx/guide for the list of those that it has."
STYLES = (ASSETS / "file" / "page.css", FOLDER / "guide.css")  # the first has the app's colours
SEARCH = "search"
MOVED = {"/bx/api": "guide/api", "/bx/openapi.json": "../gradio_api/openapi.json"}


def guide_routes() -> list[Route]:
    """The guide's routes, behind the same login as the endpoints."""
    return [
        Route(ADDRESS, _start),
        Route(f"{ADDRESS}.css", serve_text(_style, "text/css")),
        Route(f"{ADDRESS}.js", serve_text(_script, "text/javascript")),
        Route(f"{ADDRESS}/{SEARCH}", _search),
        Route(f"{ADDRESS}/{{name}}", _page),
        Route(GLOSSARY, _glossary),
        *(Route(former, _redirect(nearest)) for former, nearest in MOVED.items()),
    ]


async def _start(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"guide/{FIRST}{query}")


def _redirect(nearest: str) -> Callable[[Request], Response]:
    return lambda request: RedirectResponse(nearest)


def _style() -> str:
    return "\n".join(path.read_text("utf-8") for path in STYLES)


def _script() -> str:
    return bundle(["guide/guide.js"])


@behind_login
async def _page(request: Request) -> Response:
    page = (await run_in_threadpool(pages)).get(request.path_params["name"])
    if page is None:
        raise Refused(404, NO_PAGE)
    return HTMLResponse(await run_in_threadpool(_render, page), headers=ASKED_AGAIN)


@behind_login
async def _glossary(request: Request) -> Response:
    return JSONResponse(glossary.sent(), headers=ASKED_AGAIN)


@behind_login
async def _search(request: Request) -> Response:
    question = request.query_params.get("q", "")[:LONGEST]
    found = await run_in_threadpool(_render_hits, question)
    return HTMLResponse(_document("Search", found, question=question), headers=ASKED_AGAIN)


@cache
def _render(page: Page) -> str:
    return _document(page.title, page.html, page)


def _render_hits(question: str) -> str:
    words, hits = words_of(question), search(question)
    told = f"{len(hits)} sections" if len(hits) != 1 else "One section"
    if not words:
        told = "Type one or more words above"
    elif not hits:
        told = "No section of the guide has all of these words; try fewer, or shorter ones"
    items = "".join(
        f'<li><a href="{hit.page.name}#{hit.section.anchor}">{mark(hit.section.title, words)}</a> '
        f"<small>{escape(hit.page.title)}</small><p>{mark(hit.excerpt, words)}</p>"
        for hit in hits
    )
    return f'<h1>Search the guide</h1><p role="status">{told}.</p><ol class="hits">{items}</ol>'


def _document(title: str, body: str, page: Page | None = None, question: str = "") -> str:
    """A whole HTML page; `page` is marked in the contents."""
    template = Template((FOLDER / "page.html").read_text("utf-8"))
    names = {"title": escape(title), "body": body, "contents": _contents(page), "first": FIRST}
    return template.substitute(names, question=escape(question), longest=LONGEST)


def _contents(page: Page | None) -> str:
    items = []
    for name in order():
        shown = page if page is not None and page.name == name else None
        sections = () if shown is None else shown.sections
        own = "".join(f'<li><a href="#{part.anchor}">{escape(part.title)}</a>' for part in sections if part.level == 2)
        current = "" if shown is None else ' aria-current="page"'
        items.append(f'<li><a href="{name}"{current}>{escape(pages()[name].title)}</a>{f"<ul>{own}</ul>" if own else ""}')
    return "".join(items)
