"""One request over plain HTTP, and its answer whatever its status is."""

import http.client
import json
from email.message import Message
from typing import Any
from urllib.parse import urlsplit


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


def log_in(address: str) -> str:
    """The cookie of the teacher in the app that the fixture `locked` serves."""
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    headers = ask(address, "POST", "/login", "username=teacher&password=secret", **form)[1]
    return headers["set-cookie"].partition(";")[0]
