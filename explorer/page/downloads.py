"""The address of what the page offers for download: it is in no cache, and dies after a while."""

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from explorer.training import downloads

GONE = "This download is no longer offered; save the run once more."


def _send(request: Request) -> Response:
    path = downloads.offered(request.path_params["token"])
    if path is None:
        return JSONResponse({"error": GONE}, 404)
    return FileResponse(path, filename=path.name, headers={"Cache-Control": "no-store"}, media_type="application/zip")


ROUTE = Route("/download/{token}", _send)
