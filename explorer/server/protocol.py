"""Read HTTP requests with bounds: h11, whatever else is installed, limits on size and time of headers, and on connections."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import h11
import uvicorn.config
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer.core.hosts import visitor
from explorer.core.limits import CONNECTIONS
from explorer.core.process import most_files
from explorer.server.proxies import BehindProxies

HEADER_BYTES = 64 * 1024  # all header lines: enough for a link of 16,000 characters and its cookies, however they are split
HEADER_SECONDS = 10.0  # from the start of the connection, or the previous answer, to a complete header
BODY_SECONDS = 60.0  # between two chunks of a body
REST_SECONDS = 30.0  # for the rest of a body that was refused already
OTHER_FILES = 256  # open files besides connections: models, libraries, runs, uploads
MOST_LINES = 8_192
CROWDED = "This machine has as many connections as it can hold; try again in a moment."


def most_lines() -> int:
    """The most connections that this process may hold."""
    files = most_files()
    return MOST_LINES if files is None else max(1, min(MOST_LINES, files - OTHER_FILES))


class Line:
    """A transport that lets the other side finish what it is sending before it is closed, and takes no notice of it.

    Closed at once, what has arrived and was not read would take the answer with it: instead of reading why a file is
    refused, a browser sees a broken line, and a proxy takes the whole app for broken.
    """

    def __init__(self, transport: asyncio.Transport, is_sending: Callable[[], bool]) -> None:
        self._transport, self._is_sending = transport, is_sending
        self._end: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        """All else is the transport's."""
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Whether nothing is read or written any more."""
        return self._end is not None or self._transport.is_closing()

    def close(self) -> None:
        """Write no more, and hang up when the other side does, or after REST_SECONDS; at once if it sends nothing."""
        if self.is_closing() or not self._is_sending():
            self.hang_up()
            return
        self._end = asyncio.get_running_loop().call_later(REST_SECONDS, self._transport.close)
        self._transport.write_eof()
        self._transport.resume_reading()

    def hang_up(self) -> None:
        """Close it now."""
        if self._end is not None:
            self._end.cancel()
        self._transport.close()


class BoundedHTTP(H11Protocol):
    """HTTP/1.1 with limits: 400 for a header over HEADER_BYTES; connections that are too slow are closed.

    A connection over the limits gets a 503 and is closed at once: half a request occupies it as much as a whole one.
    """

    lines: ClassVar[Counter[str]] = Counter()  # open connections, by the client's address

    def __init__(self, config: Config, *rest: Any, **named: Any) -> None:
        config.h11_max_incomplete_event_size = HEADER_BYTES
        super().__init__(config, *rest, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._counted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Count the connection, refuse it if there are too many, and wait for a header."""
        self._line = Line(transport, lambda: self.conn.their_state is h11.SEND_BODY)
        super().connection_made(self._line)  # type: ignore[arg-type]  # it has all that a transport has
        address = visitor(self.client)
        self.lines[address] += 1
        self._counted = True
        trusted = isinstance(self.app, BehindProxies) and self.app.is_proxy(self.client)
        own = self.lines[address] > CONNECTIONS.most if CONNECTIONS.most and not trusted else False
        if own or len(self.connections) > most_lines():
            body = json.dumps({"error": CONNECTIONS.tell() if own else CROWDED})
            head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            transport.write(f"{head}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n{body}".encode())
            transport.close()
            return
        self._expect(HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and count the connection as closed."""
        self._expect(None)
        self._line.hang_up()
        if self._counted:
            self._counted = False
            address = visitor(self.client)
            self.lines[address] -= 1
            if not self.lines[address]:
                del self.lines[address]
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

    def on_response_complete(self) -> None:
        """Wait for the next request on this connection."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
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
            self._line.hang_up()


def watch_the_line() -> None:
    """Make uvicorn use BoundedHTTP and BehindProxies for servers started from now on.

    Gradio starts its server without naming a protocol. uvicorn would take httptools if it is installed (Ray Serve brings
    it), which buffers an endless header before anybody can refuse it.
    """
    uvicorn.config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedHTTP.__name__}"
    uvicorn.config.ProxyHeadersMiddleware = BehindProxies  # type: ignore[attr-defined, assignment]  # so uvicorn calls it
