"""Whose a request is, also behind proxies."""

import os
from typing import Any

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from explorer.core.errors import InputError
from explorer.core.limits import is_on_a_space

ADDRESSES = "FORWARDED_ALLOW_IPS"  # uvicorn's setting: addresses and networks of trusted proxies
NAME_PROXIES = f"{ADDRESSES} may not be *; name the addresses or networks of your proxies in it, such as 10.0.0.0/8."
# The Hub does not document its proxies' addresses; a Space sees private ones (10.16.3.80), and visitors have public ones.
PRIVATE = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,::1,fc00::/7"
# Gradio takes the app's own address from these. Proxies may send the first two; the last is of its Node server, not used here.
OF_PROXIES, OF_NONE = frozenset({b"x-forwarded-host", b"x-forwarded-proto"}), frozenset({b"x-gradio-server"})


def check_environment() -> None:
    """Raise InputError if all clients are trusted as proxies: uvicorn would then believe what a visitor writes."""
    if "*" in os.environ.get(ADDRESSES, ""):
        raise InputError(NAME_PROXIES)


class BehindProxies(ProxyHeadersMiddleware):
    """uvicorn's middleware, for a Space too, and without headers that would give the page another address."""

    def __init__(self, app: ASGIApp) -> None:
        trusted = os.environ.get(ADDRESSES, PRIVATE if is_on_a_space() else "127.0.0.1")
        super().__init__(app, trusted)  # type: ignore[arg-type]  # Starlette and uvicorn each have a type for an application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            client = scope.get("client")
            is_proxy = client is not None and client[0] in self.trusted_hosts
            dropped = OF_NONE if is_proxy else OF_NONE | OF_PROXIES
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in dropped]
        await super().__call__(scope, receive, send)
