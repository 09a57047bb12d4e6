"""What every answer tells the browser: run only our own scripts, guess no types, be framed by nobody."""

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.server.document import Document, address_of

# Gradio compiles the scripts of its components: no 'unsafe-eval', no page. Nothing else runs that is not ours: an inline
# script must have its hash here, and no handler in an attribute has one.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",  # the page sets its own
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
ON_A_SPACE = "'self' https://huggingface.co https://*.hf.space"  # who shows a Space in a frame
FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
INLINE = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


class SecurityHeaders:
    """Adds them, and completes the page, whose scripts its policy names."""

    def __init__(self, app: ASGIApp, document: Document, on_a_space: bool) -> None:
        self._app = app
        self._document = document
        self._policy = POLICY | ({"frame-ancestors": ON_A_SPACE} if on_a_space else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An application of ASGI."""
        start: Message = {}
        page = b""
        may_be_page = scope["type"] == "http" and scope["path"].endswith("/")  # a file that somebody sent never is

        async def send_on(message: Message) -> None:
            nonlocal start, page
            if message["type"] == "http.response.start":
                start = message
                if not (may_be_page and _is_html(message)):
                    await send(self._secured(message, ""))
            elif may_be_page and _is_html(start):  # its scripts are known when all of it is there
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
        del headers["Access-Control-Allow-Origin"]  # no page of another origin reads answers
        del headers["Access-Control-Allow-Credentials"]
        return start


def _is_html(start: Message) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in start["headers"])


def _hashes(page: bytes) -> str:
    """Every inline script of a page, as a policy names it."""
    digests = [hashlib.sha256(script).digest() for script in INLINE.findall(page)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
