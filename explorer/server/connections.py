"""Connections: whose they are, also behind proxies, and bounds on their number, on the size of headers and on waiting for them.

uvicorn reads HTTP and finds the visitor's address. It bounds neither how long a request may take to arrive nor how many
connections one address opens.
"""

import asyncio
import json
import os
from collections import Counter
from functools import cache, partial
from typing import Any, ClassVar

import h11
import uvicorn
import uvicorn.config
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer.core.errors import InputError
from explorer.core.hosts import visitor
from explorer.core.limits import CONNECTIONS, is_on_a_space
from explorer.core.process import most_files

ADDRESSES = "FORWARDED_ALLOW_IPS"  # uvicorn's setting: addresses and networks of trusted proxies
NAME_PROXIES = f"{ADDRESSES} may not be *; name the addresses or networks of your proxies in it, such as 10.0.0.0/8."
# The Hub does not document its proxies' addresses; a Space sees private ones (10.16.3.80), and visitors have public ones.
PRIVATE = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,::1,fc00::/7"
# Gradio takes the app's own address from these. Proxies may send the first two; the last is of its Node server, not used here.
OF_PROXIES, OF_NONE = frozenset({b"x-forwarded-host", b"x-forwarded-proto"}), frozenset({b"x-gradio-server"})

HEADER_BYTES = 64 * 1024  # all header lines: enough for a link of 16,000 characters and its cookies, however they are split
HEADER_SECONDS = 10.0  # from the start of a connection, or of a later request, to a complete header
BODY_SECONDS = 60.0  # between two chunks of a body
OTHER_FILES = 256  # open files besides connections: models, libraries, runs, uploads
MOST_CONNECTIONS = 8_192
CROWDED = "This machine has as many connections as it can hold; try again in a moment."

# ---- Proxies.


def check_environment() -> None:
    """Raise InputError if all clients are trusted as proxies: uvicorn would then believe what a visitor writes."""
    if "*" in os.environ.get(ADDRESSES, ""):
        raise InputError(NAME_PROXIES)


def is_proxy(client: tuple[str, int] | None) -> bool:
    """Whether the client is a proxy, from which many visitors may come."""
    return client is not None and client[0] in _hosts(_trusted())


def _trusted() -> str:
    return os.environ.get(ADDRESSES, PRIVATE if is_on_a_space() else "127.0.0.1")


@cache
def _hosts(trusted: str) -> Any:
    return ProxyHeadersMiddleware(None, trusted).trusted_hosts  # type: ignore[arg-type]  # it is not called


class BehindProxies(ProxyHeadersMiddleware):
    """uvicorn's middleware, for a Space too, and without headers that would give the page another address."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, _trusted())  # type: ignore[arg-type]  # Starlette and uvicorn each have a type for an application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            dropped = OF_NONE if is_proxy(scope.get("client")) else OF_NONE | OF_PROXIES
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in dropped]
        await super().__call__(scope, receive, send)


# ---- HTTP.


def most_connections() -> int:
    files = most_files()
    return MOST_CONNECTIONS if files is None else max(1, min(MOST_CONNECTIONS, files - OTHER_FILES))


class BoundedHTTP(H11Protocol):
    """uvicorn's HTTP/1.1; connections that are too slow are closed, and those that are too many get a 503.

    The latter are closed at once: half a request occupies a connection as much as a whole one.
    """

    open: ClassVar[Counter[str]] = Counter()  # connections, by the client's address
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Count the connection, refuse it if there are too many, and wait for a header."""
        super().connection_made(transport)
        self._address = visitor(self.client)
        self.open[self._address] += 1
        own = CONNECTIONS.most and self.open[self._address] > CONNECTIONS.most and not is_proxy(self.client)
        if own or len(self.connections) > most_connections():
            body = json.dumps({"error": CONNECTIONS.tell() if own else CROWDED})
            head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            transport.write(f"{head}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n{body}".encode())
            transport.close()
        else:
            self._expect(HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and count the connection as closed."""
        self._expect(None)
        self.open[self._address] -= 1
        if not self.open[self._address]:
            del self.open[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received data; until the header is complete, its deadline stays."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY:
            self._expect(BODY_SECONDS)
        elif self.conn.their_state is not h11.IDLE:
            self._expect(None)
        elif self._deadline is None:
            self._expect(HEADER_SECONDS)

    def _expect(self, seconds: float | None) -> None:
        """Close the connection unless the next part comes within so many seconds; None cancels the deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._hang_up)

    def _hang_up(self) -> None:
        if self.flow.read_paused:  # the data may be there already: we are the ones not reading
            self._expect(BODY_SECONDS)
        else:
            self.transport.close()


def configure_uvicorn() -> None:
    """Set the options of uvicorn for servers started from now on, since Gradio starts its own without them.

    httptools, which uvicorn would take where it is installed (Ray Serve brings it), buffers an endless header.
    """
    uvicorn.Config = partial(  # type: ignore[misc, assignment]  # of this process
        uvicorn.config.Config,
        http=BoundedHTTP,
        h11_max_incomplete_event_size=HEADER_BYTES,
        proxy_headers=False,  # BehindProxies reads them
        log_config=None,
        access_log=False,
    )
