"""What a link shows, put into the page that it opens: its texts and tokens, and its view if that is there in a moment."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from explorer.core.errors import ExplorerError
from explorer.core.hosts import Recent
from explorer.core.limits import REQUESTS
from explorer.core.log import logger
from explorer.core.scheduling import Call
from explorer.export.links import LONGEST
from explorer.page.blocks import PageBlocks

EMPTY = b'<script type="application/json" id="bx-place">{}</script>'  # in every page, read by assets/first.js
PATIENCE = 0.3  # seconds that a page waits for its view; a warm server takes half of that


class Ahead:
    """Computes the places of links before the pages ask for them, each bounded as a call of its address is."""

    def __init__(self, blocks: PageBlocks) -> None:
        self._blocks = blocks
        self._asked = Recent()
        self._under_way: set[asyncio.Task[dict[str, Any]]] = set()  # a task is kept by nothing else

    def may(self, address: str) -> bool:
        """Whether an address may have another one; it is counted. After that its pages open without."""
        if not REQUESTS.most:
            return True
        if self._asked.count(address) >= REQUESTS.most:
            return False
        self._asked.add(address)
        return True

    async def script(self, query: str, address: str) -> bytes:
        """The element that takes the place of EMPTY."""
        asked = dict(parse_qsl(query[:LONGEST], keep_blank_values=True))
        view = asyncio.create_task(self._view(asked, address))
        self._under_way.add(view)
        view.add_done_callback(self._under_way.discard)
        await asyncio.wait({view}, timeout=PATIENCE)
        frame = await self._frame(asked)
        written = await asyncio.to_thread(_write, frame, view.result() if view.done() else {})
        return EMPTY.replace(b"{}", written.replace("<", "\\u003c").encode("ascii"))

    async def _frame(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """The link's texts and tokens, {} if they cannot be had."""
        try:
            return await asyncio.to_thread(self._blocks.frame_of, asked)
        except Exception as error:  # the page does without
            logger.exception("a link's tokens were not there ahead", exc_info=error)
            return {}

    async def _view(self, asked: Mapping[str, str], address: str) -> dict[str, Any]:
        """What the link's view shows, {} if it cannot be computed."""
        try:
            async with self._blocks.turns.place(Call(address, has_session=False)):
                return await asyncio.to_thread(self._blocks.view_of, asked)
        except ExplorerError:  # the page itself says it
            return {}
        except Exception as error:  # the page does without
            logger.exception("a link's view was not computed ahead", exc_info=error)
            return {}


def _write(frame: Mapping[str, Any], view: Mapping[str, Any]) -> str:
    """The frame with the view as JSON; the frame alone if the view has a number that JSON does not have."""
    both = {**frame, **view, "props": {**frame.get("props", {}), **view.get("props", {})}}
    try:
        return json.dumps(both, default=str, allow_nan=False)  # str as Gradio does
    except ValueError:
        return json.dumps(frame)
