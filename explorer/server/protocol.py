"""How requests are read off the line: by h11, whatever else is installed, so that no header is too long; and who sends them."""

from typing import Any

import uvicorn.config
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer.server.proxies import BehindProxies

HEADER_BYTES = 64 * 1024  # of all lines before the body: a link of 16,000 characters and its cookies, whichever way it is cut


class BoundedHTTP(H11Protocol):
    """Answers 400 to a header that does not end within HEADER_BYTES, and hangs up."""

    def __init__(self, config: Config, *rest: Any, **named: Any) -> None:
        config.h11_max_incomplete_event_size = HEADER_BYTES
        super().__init__(config, *rest, **named)


def watch_the_line() -> None:
    """Let servers that are started from now on read requests so, and believe of proxies no more than `proxies` does.

    Gradio makes its server without naming a protocol, and uvicorn then takes httptools where it is installed (Ray Serve
    brings it), which collects a header without end before anybody may refuse it.
    """
    uvicorn.config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedHTTP.__name__}"
    uvicorn.config.ProxyHeadersMiddleware = BehindProxies
