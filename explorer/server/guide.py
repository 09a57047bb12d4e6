"""Serve the guide: its pages and its search, as HTML that loads nothing from other sites."""

from jinja2 import Environment, FileSystemLoader
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
TEMPLATES = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True)
TEMPLATES.filters["mark"] = mark  # which escapes the text
MOVED = {"/bx/api": "guide/api", "/bx/openapi.json": "../gradio_api/openapi.json"}


def guide_routes() -> list[Route]:
    return [
        Route(ADDRESS, _start),
        Route(f"{ADDRESS}.css", serve_text(lambda: "\n".join(path.read_text("utf-8") for path in STYLES), "text/css")),
        Route(f"{ADDRESS}.js", serve_text(lambda: bundle(["guide/guide.js"]), "text/javascript")),
        Route(f"{ADDRESS}/{SEARCH}", _search),
        Route(f"{ADDRESS}/{{name}}", _page),
        Route(GLOSSARY, _glossary),
        *(Route(former, lambda request, nearest=nearest: RedirectResponse(nearest)) for former, nearest in MOVED.items()),
    ]


async def _start(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"guide/{FIRST}{query}")


@behind_login
async def _page(request: Request) -> Response:
    page = (await run_in_threadpool(pages)).get(request.path_params["name"])
    if page is None:
        raise Refused(404, NO_PAGE)
    return HTMLResponse(await run_in_threadpool(_document, page), headers=ASKED_AGAIN)


@behind_login
async def _glossary(request: Request) -> Response:
    return JSONResponse(glossary.sent(), headers=ASKED_AGAIN)


@behind_login
async def _search(request: Request) -> Response:
    question = request.query_params.get("q", "")[:LONGEST]
    return HTMLResponse(await run_in_threadpool(_document, None, question), headers=ASKED_AGAIN)


def _document(page: Page | None, question: str = "") -> str:
    """A page of the guide, which is marked in the contents, or without one what a question finds."""
    words, hits = words_of(question), [] if page else search(question)
    every = [pages()[name] for name in order()]
    shown = {"page": page, "pages": every, "question": question, "words": words, "hits": hits, "longest": LONGEST}
    return TEMPLATES.get_template("page.html").render(shown)
