"""One request over plain HTTP or to an ASGI app, and its answer whatever its status is."""

import http.client
import json
from collections.abc import Callable, Mapping
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

import anyio

from tests.waiting import waited


def ask(address: str, method: str, path: str, body: Any = None, most: int = -1, **headers: str) -> tuple[int, Message, bytes]:
    """Status, headers, and body, of which `most` bytes are read where there is no end to wait for.

    What is neither text nor bytes goes as JSON; "Sec_Fetch_Site" names the header Sec-Fetch-Site.
    """
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if not isinstance(body, bytes | str | None):
        body, given = json.dumps(body).encode(), {"Content-Type": "application/json", **given}
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    try:
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read() if most < 0 else answer.read1(most)
    finally:
        connection.close()


def ask_app(
    app: Any, *parts: bytes, headers: Mapping[str, str], ends: bool = True, see: Callable = lambda message: None, **scope: Any
) -> list[dict[str, Any]]:
    """The messages with which an ASGI app answers a POST whose body comes in parts; if it does not end, its client hangs up.

    `see` gets each message as it is sent, `scope` more of the request than its headers.
    """
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages.append({"type": "http.request", "body": b""} if ends else {"type": "http.disconnect"})
    coming, answer = iter(messages), []

    async def receive() -> dict[str, Any]:
        return next(coming, None) or await anyio.sleep_forever()

    async def send(message: dict[str, Any]) -> None:
        answer.append(message)
        see(message)

    raw = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    usual = {"type": "http", "scheme": "http", "method": "POST", "path": "/", "query_string": b"", "client": ("192.0.2.1", 1)}

    async def run() -> None:
        with anyio.fail_after(60):
            await app({**usual, "headers": raw, "extensions": {}, **scope}, receive, send)

    waited(run())
    return answer


def log_in(address: str) -> str:
    """The cookie of the teacher in the app that the fixture `locked` serves."""
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    headers = ask(address, "POST", "/login", "username=teacher&password=secret", **form)[1]
    return headers["set-cookie"].partition(";")[0]
