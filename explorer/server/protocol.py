"""How requests are read off the line: by h11, whatever else is installed, so that no header is too long or takes too long, and
nobody holds all lines; and who sends them.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import h11
import uvicorn.config
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer.base.descriptors import most_files
from explorer.base.hosts import visitor
from explorer.base.limits import CONNECTIONS
from explorer.server.proxies import BehindProxies

HEADER_BYTES = 64 * 1024  # of all lines before the body: a link of 16,000 characters and its cookies, whichever way it is cut
HEADER_SECONDS = 10.0  # from the line's begin, or from the answer before, until a header is there
BODY_SECONDS = 60.0  # between two parts of a body
REST_SECONDS = 30.0  # for the rest of a body that was refused already
OTHER_FILES = 256  # that are open beside lines: models, libraries, runs, uploads
MOST_LINES = 8_192
CROWDED = "This machine has as many connections as it can hold; try again in a moment."


def most_lines() -> int:
    """How many lines there may be."""
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
    """Answers 400 to a header that does not end within HEADER_BYTES, and hangs up; on who keeps it waiting it hangs up too.

    A line over the limits is told so and closed, at once: half a request holds a line as a whole one does.
    """

    lines: ClassVar[Counter[str]] = Counter()  # by the address at the other end

    def __init__(self, config: Config, *rest: Any, **named: Any) -> None:
        config.h11_max_incomplete_event_size = HEADER_BYTES
        super().__init__(config, *rest, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._counted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """A line begins."""
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
        """A line has ended."""
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
        """Something has come, which may be half a header: what is waited for is a whole one."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY:
            self._expect(BODY_SECONDS)
        elif self.conn.their_state is not h11.IDLE:
            self._expect(None)

    def on_response_complete(self) -> None:
        """The next request may come."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect(HEADER_SECONDS)

    def _expect(self, seconds: float | None) -> None:
        """Hang up unless it comes within so many seconds; None where nothing is expected."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._hang_up)

    def _hang_up(self) -> None:
        if self.flow.read_paused:  # it may have come already, and we do not read
            self._expect(BODY_SECONDS)
        else:
            self._line.hang_up()


def watch_the_line() -> None:
    """Let servers that are started from now on read requests so, and believe of proxies no more than `proxies` does.

    Gradio makes its server without naming a protocol, and uvicorn then takes httptools where it is installed (Ray Serve
    brings it), which collects a header without end before anybody may refuse it.
    """
    uvicorn.config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedHTTP.__name__}"
    uvicorn.config.ProxyHeadersMiddleware = BehindProxies  # type: ignore[attr-defined, assignment]  # so uvicorn calls it
