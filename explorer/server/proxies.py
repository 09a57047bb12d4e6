"""The client's address behind proxies: each proxy appends the address that it saw to X-Forwarded-For."""

import os
import re
from typing import Any

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from explorer.core.errors import InputError
from explorer.core.limits import is_on_a_space

SETTING = "BERT_EXPLORER_PROXIES"  # the number of proxies in front of the app; 0: X-Forwarded-For is ignored
ADDRESSES = "FORWARDED_ALLOW_IPS"  # uvicorn's setting: addresses of trusted proxies, * for all
ANYBODY = "*"
MOST = 9
WITH_PORT = re.compile(r"\[(.+)\](?::\d+)?|([^:]+):\d+")
# The Hub does not document its proxies' addresses; a Space sees private ones (10.16.3.80), and visitors have public ones.
PRIVATE = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,::1,fc00::/7"


def check_environment() -> None:
    """Raise InputError unless the number of proxies is a valid one."""
    given = os.environ.get(SETTING, "")
    if given and not (given.isascii() and given.isdecimal() and int(given[:3]) <= MOST):
        raise InputError(f"{SETTING} must be a whole number from 0 to {MOST}; set it to one, or leave it out.")


# Gradio takes the app's own address from these. Proxies may send the first two; the last is of its Node server, not used here.
OF_PROXIES, OF_NONE = frozenset({b"x-forwarded-host", b"x-forwarded-proto"}), frozenset({b"x-gradio-server"})


class BehindProxies(ProxyHeadersMiddleware):
    """uvicorn's middleware, which with `*` would take the first address in the header, whoever wrote it."""

    def __init__(self, app: ASGIApp, trusted_hosts: list[str] | str) -> None:
        on_a_space = is_on_a_space() and ADDRESSES not in os.environ
        believed = PRIVATE if on_a_space else trusted_hosts
        super().__init__(app, believed)  # type: ignore[arg-type]  # Starlette and uvicorn each have a type for an application
        given = os.environ.get(SETTING, "") or ("1" if not on_a_space and trusted_hosts == ANYBODY else "")
        if given:
            self.trusted_hosts = Counted(int(given))  # type: ignore[assignment]  # what it stands in for is private to uvicorn

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on with the visitor's address, without headers that would give the page another address."""
        if scope["type"] == "http":
            dropped = OF_NONE if self.is_proxy(scope.get("client")) else OF_NONE | OF_PROXIES
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in dropped]
        await super().__call__(scope, receive, send)

    def is_proxy(self, client: tuple[str, int] | None) -> bool:
        """Whether the client is a proxy, from which many visitors may come."""
        return client is not None and client[0] in self.trusted_hosts


class Counted:
    """A number of proxies with any addresses: the visitor is the one that the farthest of them saw."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __contains__(self, host: str | None) -> bool:
        """Whether the client is a proxy; uvicorn asks this way."""
        return self._number > 0

    def get_trusted_client_address(self, x_forwarded_for: str) -> tuple[str, int]:
        """The visitor's address, counted from the right, without the port that some proxies add."""
        written = x_forwarded_for.split(",")[-self._number :][0].strip()
        bare = WITH_PORT.fullmatch(written)
        return (bare[1] or bare[2] if bare else written), 0
