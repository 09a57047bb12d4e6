"""The seams to Gradio's Blocks, as in `gradio_seams`: the steps of a call, the configuration, and what an answer builds."""

import asyncio
import functools
import inspect
from collections.abc import Sequence
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import blocks as gradio_blocks
from gradio import component_meta
from gradio.blocks import BlocksConfig
from gradio.processing_utils import add_root_url
from gradio.state_holder import SessionState

HEARTBEATS = 5.0  # seconds for the heartbeats of open pages to end when the server closes
_NOTHING: dict[str, Any] = {}  # shared, because hundreds for each session would trigger the garbage collector

# For each component Gradio inspects the arguments of its class again, 12,000 times for a page like ours.
_once = functools.lru_cache(maxsize=1024)
_remembering = {**vars(inspect), "signature": _once(inspect.signature), "getfullargspec": _once(inspect.getfullargspec)}
gradio_blocks.inspect = component_meta.inspect = SimpleNamespace(**_remembering)

# It makes a server of every `Blocks` when that begins and when it ends; only the one of the launch has arguments.
_make = gradio_blocks.App.create_app
_make_at_launch = functools.wraps(_make)(lambda *of, **given: _make(*of, **given) if "app_kwargs" in given else None)
gradio_blocks.App.create_app = _make_at_launch


class _PageConfig(BlocksConfig):
    """The page's components. Each session takes a copy without their configurations, which only Gradio's deep links read.

    Gradio makes one of every component for each opened page and each call without a session: 100 ms for a page like ours.
    https://github.com/gradio-app/gradio/pull/8030 gave each session its copy.
    """

    def __copy__(self) -> BlocksConfig:
        own = super().__copy__()
        own.config_for_block = lambda *_: _NOTHING
        return own


async def _end(ended: asyncio.Event) -> None:
    """Set an event in the event loop that runs this, where its waiters are woken."""
    ended.set()


class GradioBlocks(gr.Blocks):
    """Gradio's Blocks with the steps of a call as methods that subclasses may override, since Gradio has no hooks around a call.

    `call` handles a call, from its arguments to what is sent.
    """

    made_of_config: Sequence[str] = ("whole_config",)  # properties that are made once
    call, read_inputs, write_outputs = gr.Blocks.process_api, gr.Blocks.preprocess_data, gr.Blocks.postprocess_data

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.default_config = _PageConfig(self)

    def get_config_file(self) -> dict[str, Any]:
        """Nothing: Gradio asks for the configuration at every step of the start, and it is made when it is read."""
        return {}

    @functools.cached_property
    def whole_config(self) -> dict[str, Any]:
        return super().get_config_file()

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that a request is sent, of which Gradio keeps a single one; nothing until the page is complete."""
        return self.config_sent() if self.exited else {}

    @config.setter
    def config(self, _: dict[str, Any]) -> None:
        """Forget what was made, since something has changed."""
        for name in self.made_of_config:
            self.__dict__.pop(name, None)

    def config_sent(self) -> dict[str, Any]:
        return self.whole_config

    async def process_api(self, *given: Any, **named: Any) -> dict[str, Any]:
        return await self.call(*given, **named)

    async def preprocess_data(self, *given: Any, **named: Any) -> list[Any]:
        return await self.read_inputs(*given, **named)

    async def postprocess_data(self, *given: Any, **named: Any) -> list[Any]:
        return await self.write_outputs(*given, **named)

    def close(self, verbose: bool = True) -> None:
        """Close the server, after ending the heartbeats of open pages in their own event loop.

        Gradio sets their asyncio.Event from this thread, which fails when one of them starts or ends at that moment.
        """
        ended = getattr(self, "app", None) and self.app.stop_event
        loop = getattr(ended, "_loop", None)  # set once something has waited for the event
        if ended is not None and loop and loop.is_running():
            asyncio.run_coroutine_threadsafe(_end(ended), loop).result(HEARTBEATS)
        super().close(verbose)

    def session_state(self, session: str | None) -> SessionState | None:
        """Gradio's state of a session; None for an unknown session, for which no state is created."""
        holder = getattr(self, "state_holder", None)  # the server brings it
        return holder[session] if holder is not None and session in holder.session_data else None


# Parts of a page that an answer builds in the browser. Gradio does this only for `gr.render`, which builds them again for each
# session and each time; ours are built once. See https://github.com/gradio-app/gradio/issues/10282 and 12891.

delivery: ContextVar[dict[str, Any] | None] = ContextVar("delivery", default=None)
"""The part of the page that the answer of the current call builds, as one of `gr.render` would; None for no part."""


def with_delivery(answer: dict[str, Any], root: str | None) -> dict[str, Any]:
    """The answer of the current call, with the part that it builds; its files are below the address `root`."""
    if (built := delivery.get()) is not None:
        answer["render_config"] = add_root_url(built, root, None) if root else built
    return answer
