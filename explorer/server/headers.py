"""Security headers of every answer: only our own scripts run, types are not guessed, other sites may not frame the page."""

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.server.document import Document, address_of

# Gradio compiles its components' scripts, so the page needs 'unsafe-eval'. Other scripts must be ours: an inline script
# needs its hash here, and handlers in attributes cannot have one.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",  # the page sets a base of its own
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
ON_A_SPACE = "'self' https://huggingface.co https://*.hf.space"  # the sites that show a Space in a frame
FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
INLINE = re.compile(rb"<script(?![^<>]*\bsrc=)[^<>]*>((?:[^<]|<(?!/?script))*+)</script>")


class SecurityHeaders:
    """ASGI middleware that adds the headers, completes the page, and lists the page's inline scripts in its policy."""

    def __init__(self, app: ASGIApp, document: Document, on_a_space: bool) -> None:
        self._app = app
        self._document = document
        self._policy = POLICY | ({"frame-ancestors": ON_A_SPACE} if on_a_space else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its answer."""
        start: Message = {}
        page = b""
        may_be_page = scope["type"] == "http" and scope["path"].endswith("/")  # an uploaded file never ends so

        async def send_on(message: Message) -> None:
            nonlocal start, page
            if message["type"] == "http.response.start":
                start = message
                if not (may_be_page and _is_html(message)):
                    await send(self._secured(message, ""))
            elif may_be_page and _is_html(start):  # the scripts are known only when the whole page is there
                page += message.get("body", b"")
                if not message.get("more_body"):
                    page = self._document.complete(page, address_of(scope))
                    MutableHeaders(scope=start)["Content-Length"] = str(len(page))
                    await send(self._secured(start, _hashes(page)))
                    await send({**message, "body": page})
            else:
                await send(message)

        await self._app(scope, receive, send_on if scope["type"] == "http" else send)

    def _secured(self, start: Message, hashes: str) -> Message:
        headers = MutableHeaders(scope=start)
        policy = self._policy | {"script-src": f"{self._policy['script-src']} {hashes}".strip()}
        headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
        headers.update(FIXED)
        del headers["Access-Control-Allow-Origin"]  # pages of other origins must not read answers
        del headers["Access-Control-Allow-Credentials"]
        return start


def _is_html(start: Message) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in start["headers"])


def _hashes(page: bytes) -> str:
    """The hashes of a page's inline scripts, in the policy's syntax."""
    digests = [hashlib.sha256(script).digest() for script in INLINE.findall(page)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
