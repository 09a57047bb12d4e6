"""Cache the answers that are slow to make and the same for everybody: the page and its parts."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.api.gradio_seams import user_of
from explorer.core.hosts import visitor
from explorer.core.recent import MINUTE, Recent
from explorer.export import links
from explorer.page.blocks import PageBlocks
from explorer.page.pieces import Asked
from explorer.server.metrics import Metrics
from explorer.server.refusals import refusal

PATHS = frozenset({"/", "/config", "/config/", "/gradio_api/info", "/gradio_api/info/", "/bx/join.js", "/bx/join.css"})
UNUSED = frozenset({"deep_link", "page"})  # query parameters of Gradio features that this app does not have
OWN = frozenset({"all_endpoints"})  # query parameters that change the answer
ADDRESSED_BY = ("host", "x-forwarded-host", "x-forwarded-proto")  # these headers change the address in an answer
MOST = 32  # cached answers
NEW_ONES = 60  # new answers a minute for one visitor: all who use one name of the app get the same
TOO_MANY = "These are too many different pages in a minute; wait a moment."


def asked_of(scope: Scope) -> Asked:
    """Which configuration a request needs: the plain page, that of a link, or all of it, for the endpoints' documentation."""
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if scope["path"] != "/" or dict(parameters).get("view") == "api":
        return Asked.ALL
    return Asked.LINK if links.asks(name for name, _ in parameters) else Asked.PAGE


@dataclass
class Answer:
    """A cached answer, with the configuration it was made from, to notice when that was replaced."""

    config: Any
    messages: list[Message]


class Kept:
    """ASGI middleware that caches the answers for PATHS; one answer is made at a time."""

    def __init__(self, app: ASGIApp, blocks: PageBlocks, metrics: Metrics) -> None:
        self._app, self._blocks, self._metrics = app, blocks, metrics
        self._answers: OrderedDict[tuple, Answer] = OrderedDict()
        self._made = Recent()
        self._one = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or pass the request on."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query = urlencode([(name, value) for name, value in parameters if name not in UNUSED])
        scope = {**scope, "query_string": query.encode()}
        if OWN & dict(parameters).keys():
            await self._app(scope, receive, send)
            return
        for message in await self._answer(scope, receive):
            await send(message)

    async def _answer(self, scope: Scope, receive: Receive) -> list[Message]:
        key, config = await self._key(scope), self._blocks.config_for(asked_of(scope))
        if found := self._find(key, config):
            return found
        address = visitor(scope.get("client"))
        if self._made.count(address) >= NEW_ONES:
            self._metrics.refused(HTTPStatus.TOO_MANY_REQUESTS.phrase)
            return await _told(refusal(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY, MINUTE), scope, receive)
        async with self._one:
            if found := self._find(key, config):  # made for another request meanwhile
                return found
            self._made.add(address)
            messages = await _told(self._app, scope, receive)
            if messages and messages[0].get("status") == HTTPStatus.OK:
                self._answers[key] = Answer(config, messages)
                if len(self._answers) > MOST:
                    self._answers.popitem(last=False)
            return messages

    async def _key(self, scope: Scope) -> tuple:
        """The cache key: all that the answer depends on, except the configuration."""
        headers = Headers(scope=scope)
        user = await user_of(Request({**scope, "app": self._blocks.app}))  # the user's name is on the page
        how = scope["method"], scope["path"], asked_of(scope), user, "gzip" in headers.get("accept-encoding", "")
        return *how, scope["scheme"], scope.get("root_path", ""), *(tuple(headers.getlist(name)) for name in ADDRESSED_BY)

    def _find(self, key: tuple, config: Any) -> list[Message] | None:
        found = self._answers.get(key)
        if found is None or found.config is not config:
            return None
        self._answers.move_to_end(key)
        return found.messages


async def _told(app: ASGIApp, scope: Scope, receive: Receive) -> list[Message]:
    """All messages of an application's answer."""
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    return messages
