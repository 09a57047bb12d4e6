"""The reference for programs: OpenAPI, and the same as a plain page, made from endpoints, exports and link parameters."""

from html import escape
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.api.gradio_seams import endpoints
from explorer.export import links, ways
from explorer.page.blocks import PageBlocks
from explorer.server.login import behind_login
from explorer.server.requests import TAKE
from explorer.tabs import VIEWS

OPENAPI, PAGE = "bx/openapi.json", "bx/api"
TITLE = "BERT Explorer for programs"
ABOUT = (
    "Layers and heads count from 1, tokens from 0; hidden state 0 is the embedding output. An endpoint takes all of its "
    "arguments, in their order. What is wrong is told in one sentence."
)
STYLE = """:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: auto; padding: 1rem }
code { overflow-wrap: anywhere }
h3 { margin-bottom: 0 }
td { padding-right: 1.5rem; vertical-align: top }"""
REFUSED = {
    "description": "one sentence that says what to do",
    "content": {"application/json": {"schema": {"type": "object", "properties": {"error": {"type": "string"}}}}},
}


def reference_routes(blocks: PageBlocks) -> list[Route]:
    """Both routes, behind the same login as the endpoints."""

    @behind_login
    async def described(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(openapi, blocks))

    @behind_login
    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(lambda: as_page(openapi(blocks))))

    return [Route(f"/{OPENAPI}", described), Route(f"/{PAGE}", page)]


def openapi(blocks: PageBlocks) -> dict[str, Any]:
    """The OpenAPI description of all endpoints and exports."""
    asked = {f"/gradio_api/run{name}": {"post": _called(name, about)} for name, about in endpoints(blocks).items()}
    taken = {f"{TAKE}view.{way.key}": {"get": _taken(way)} for way in ways.WAYS}
    return {"openapi": "3.1.0", "info": {"title": TITLE, "version": "1", "description": ABOUT}, "paths": {**asked, **taken}}


def _called(name: str, about: dict[str, Any]) -> dict[str, Any]:
    """One endpoint, with its arguments in order."""
    arguments = [_argument(name, one) for one in about["parameters"]]
    number = len(arguments)
    data = {"type": "array", "prefixItems": arguments, "minItems": number, "maxItems": number}
    body = {"type": "object", "properties": {"data": data}, "required": ["data"]}
    answer = {"type": "object", "properties": {"data": {"type": "array", "prefixItems": [{"type": "object"}]}}}
    return {
        "operationId": name.strip("/"),
        "summary": about["description"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "the answer, alone in a list", "content": {"application/json": {"schema": answer}}},
            "default": REFUSED,
        },
    }


def _argument(endpoint: str, about: dict[str, Any]) -> dict[str, Any]:
    default = {"default": about["parameter_default"]} if about["parameter_has_default"] else {}
    names = {"enum": list(VIEWS)} if (endpoint, about["parameter_name"]) == ("/view", "name") else {}
    return {"title": about["parameter_name"], **about["type"], **names, **default}


def _taken(way: ways.Way) -> dict[str, Any]:
    """One export of what a link shows; it takes the link's own parameters."""
    told = {name: about for name, about in links.PARAMETERS.items() if name != "set.NAME"}
    parameters = [
        *({"name": name, "in": "query", "description": about, "schema": {"type": "string"}} for name, about in told.items()),
        {
            "name": "settings",
            "in": "query",
            "description": f"set.NAME: {links.PARAMETERS['set.NAME']}",
            "schema": {"type": "object", "additionalProperties": {"type": "string"}},
            "style": "form",
            "explode": True,
        },
    ]
    if way.key == "csv":
        part = "the part of the view whose table is wanted; left out for the main one"
        parameters.append({"name": "part", "in": "query", "description": part, "schema": {"type": "string"}})
    return {
        "operationId": f"view_{way.key}",
        "summary": f"What a link shows: {way.label}.",
        "parameters": parameters,
        "responses": {"200": {"description": "the file", "content": {way.media_type: {}}}, "default": REFUSED},
    }


def as_page(described: dict[str, Any]) -> str:
    """The reference as an HTML page."""
    parts = [_section(path, method, about) for path, found in described["paths"].items() for method, about in found.items()]
    listed = "".join(f"<tr><td><code>{escape(name)}</code><td>{escape(view.question)}" for name, view in VIEWS.items())
    address = OPENAPI.removeprefix("bx/")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{TITLE}</title><style>{STYLE}</style><main><h1>{TITLE}</h1><p>{ABOUT} The same for machines: "
        f'<a href="{address}">{address}</a>.{"".join(parts)}<h2>Views</h2><table>{listed}</table></main></html>'
    )


def _section(path: str, method: str, about: dict[str, Any]) -> str:
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    arguments = body["properties"]["data"]["prefixItems"] if body else []
    rows = [(one["title"], f"{one.get('type', 'anything')}{_default(one)}") for one in arguments]
    rows += [(one["name"], one["description"]) for one in about.get("parameters", ())]
    table = "".join(f"<tr><td><code>{escape(name)}</code><td>{escape(told)}" for name, told in rows)
    return f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(about['summary'])}<table>{table}</table>"


def _default(argument: dict[str, Any]) -> str:
    return f", usually {argument['default']!r}" if "default" in argument else ""
