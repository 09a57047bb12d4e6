"""What a page shows first, put into it: what it opens with, or a link's texts and tokens, and its view if there in a moment."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.concurrency import run_in_threadpool

from explorer.core.errors import ExplorerError, logger
from explorer.core.scheduling import Call
from explorer.export.links import LONGEST
from explorer.page.blocks import PageBlocks

PATIENCE = 0.3  # seconds that a page waits for its view; a warm server takes half of that


def write(place: Mapping[str, Any]) -> bytes:
    """The place as JSON, safe within a page. As in Gradio's answers: str for what is unknown, null for NaN, ids as text."""
    return orjson.dumps(place, str, orjson.OPT_NON_STR_KEYS).replace(b"<", b"\\u003c")


def element(place: Mapping[str, Any]) -> bytes:
    """The element of every page that says what it shows first; assets/first.js reads it."""
    return b'<script type="application/json" id="bx-place">' + write(place) + b"</script>"


class Ahead:
    """Computes the places of links before the pages ask for them."""

    def __init__(self, blocks: PageBlocks) -> None:
        self._blocks = blocks
        self._under_way: set[asyncio.Task[dict[str, Any]]] = set()  # a task is kept by nothing else

    async def place(self, query: str, address: str) -> dict[str, Any]:
        """What the page of a link shows first."""
        asked = dict(parse_qsl(query[:LONGEST], keep_blank_values=True))
        view = asyncio.create_task(_or_nothing(self._view(asked, address)))
        self._under_way.add(view)
        view.add_done_callback(self._under_way.discard)
        await asyncio.wait({view}, timeout=PATIENCE)
        frame = await _or_nothing(asyncio.to_thread(self._blocks.frame_of, asked))
        seen = view.result() if view.done() else {}
        return {**frame, **seen, "props": {**frame.get("props", {}), **seen.get("props", {})}}

    async def _view(self, asked: Mapping[str, str], address: str) -> dict[str, Any]:
        """What the link's view shows."""
        async with self._blocks.turns.place(Call(address, has_session=False)):
            return await run_in_threadpool(self._blocks.view_of, asked)  # asyncio's few threads are for pages


async def _or_nothing(making: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """What is made, {} where that fails: the page itself says why."""
    try:
        return await making
    except ExplorerError:
        return {}
    except Exception as error:
        logger.exception("A link's page was not made ahead", exc_info=error)
        return {}
