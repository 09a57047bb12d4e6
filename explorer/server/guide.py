"""Serve the guide, as HTML that loads nothing from other sites, and what the finder looks through."""

from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from explorer.core.javascript import bundle
from explorer.core.paths import ASSETS
from explorer.guide import finding
from explorer.guide.pages import FIRST, FOLDER, glossary, order, pages
from explorer.server.refusals import Refused
from explorer.server.routes import ASKED_AGAIN, FOR_A_DAY, serve_file, serve_text

ADDRESS = "/bx/guide"
GLOSSARY = "/bx/glossary.json"
NO_PAGE = "The guide has no such page. Open bx/guide for its contents."
STYLES = (ASSETS / "file" / "page.css", FOLDER / "guide.css")  # the first has the app's colours
TEMPLATES = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True)
MOVED = {
    "/bx/api": "guide/api",
    "/bx/openapi.json": "../gradio_api/openapi.json",
    f"{ADDRESS}/search": FIRST,
    "/exercises": "bx/guide/teaching#exercises",
}


def guide_routes() -> list[Route]:
    return [
        Route(ADDRESS, _start),
        Route(f"{ADDRESS}.css", serve_text(lambda: "\n".join(path.read_text("utf-8") for path in STYLES), "text/css")),
        Route(f"{ADDRESS}.js", serve_text(lambda: bundle(["guide/guide.js"]), "text/javascript")),
        *(Route(former, lambda request, nearest=nearest: RedirectResponse(nearest)) for former, nearest in MOVED.items()),
        Route(f"{ADDRESS}/{{name}}", _page),
        Route(GLOSSARY, _glossary),
        Route("/bx/find.json", _find),
        Route("/bx/minisearch.js", serve_file(ASSETS / "vendor" / "minisearch.js", "text/javascript", FOR_A_DAY)),
    ]


async def _start(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"guide/{FIRST}{query}")


def _page(request: Request) -> Response:
    page = pages().get(request.path_params["name"])
    if page is None:
        raise Refused(404, NO_PAGE)
    every = [pages()[name] for name in order()]
    document = TEMPLATES.get_template("page.html").render(page=page, pages=every)
    return HTMLResponse(document, headers=ASKED_AGAIN)


async def _glossary(request: Request) -> Response:
    return JSONResponse(glossary(), headers=ASKED_AGAIN)


def _find(request: Request) -> Response:
    """The guide, which lists no heads, names no model, and waits for none to be loaded."""
    return JSONResponse(finding.list_everything(request.query_params.get("model")), headers=ASKED_AGAIN)
