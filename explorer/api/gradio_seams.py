"""The seams to Gradio: everything undocumented of it that we use or override, with the reason.

Nothing outside this module names these; `tests/unit/test_gradio_seams.py` checks that, and that the installed Gradio still has
each of them. JavaScript reads `window.gradio_config`, and `assets/statuses.js` changes how `LoadingStatus` works: the same test
looks for both in the built front end.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import component_meta, http_server, route_utils
from gradio.blocks import Block, BlockFunction, postprocess_update_dict
from gradio.components.api_component import Api
from gradio.context import Context, LocalContext
from gradio.queueing import Queue
from gradio.route_utils import FnIndexInferError, GradioMultiPartParser, MultiPartException
from gradio.state_holder import SessionState
from gradio_client.utils import is_http_url_like
from huggingface_hub.utils import _detect_agent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import ASGIApp

__all__ = ["Block", "BlockFunction", "FnIndexInferError", "SessionState", "is_http_url_like"]  # re-exported for the app

UPDATE = "__type__"  # the key that marks a result of gr.update


# The queue. Gradio only offers a maximal length at launch.


def count_queued(blocks: gr.Blocks) -> tuple[int, int]:
    """How many calls wait in Gradio's queue, and how many of it are running, for /metrics."""
    return len(blocks._queue), sum(job is not None for job in blocks._queue.active_jobs)


def keep_stream_open(blocks: gr.Blocks, session: str | None, pending: str) -> None:
    """Add a call that never ends to those of a session, so that its stream of answers stays open.

    Gradio ends a stream when nothing is pending, and the browser opens another for the next call; a call made while the end is on
    its way got no answer (9 of 300 clicks made 0 to 40 ms after another).
    """
    waiting = blocks._queue.pending_event_ids_session
    if session in waiting:
        waiting[session].add(pending)


def is_unheard(unread: int) -> bool | None:
    """Whether no client listens to the queued call that this thread handles: it has left, or more than `unread` messages wait.

    None outside of one. Gradio does not inform the handler. See https://github.com/gradio-app/gradio/issues/6239.
    """
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    if blocks is None or event_id is None:
        return None
    queue: Queue = blocks._queue
    found = (event for job in list(queue.active_jobs) for event in job or () if event._id == event_id)
    return any(not event.alive or queue.pending_messages_per_session[event.session_hash].qsize() > unread for event in found)


def current_request() -> gr.Request | None:
    """The request of the call that this thread handles, or None: Gradio gives it to a handler only, as an argument."""
    return LocalContext.request.get(None)


# Components and updates.


def component_id(component: Block) -> int:
    """Gradio's id of a component, used in the page's configuration, layout and listeners."""
    return component._id


def is_update(value: object) -> bool:
    """Whether a value comes from gr.update."""
    return isinstance(value, dict) and UPDATE in value


def props_of(value: object) -> dict[str, Any]:
    """The properties that an update sets: those it names, or the value."""
    if isinstance(value, dict) and value.get(UPDATE) == "update":
        return {name: part for name, part in value.items() if name != UPDATE}
    return {"value": value}


def props_sent(component: Block, value: object) -> dict[str, Any]:
    """The properties that Gradio would send for an update, to fill a page with it before it is opened."""
    if isinstance(value, Block):
        return {name: given for name, given in value.constructor_args.items() if name == "visible"}
    given = props_of(value)
    if "choices" in given:  # of which the value is one
        component = copy(component)
        component.choices = [choice if isinstance(choice, tuple | list) else (str(choice), choice) for choice in given["choices"]]
    if "value" in given:
        given |= {"value": postprocess_update_dict(component, {"value": given["value"]})["value"]}
    return given


def page_being_built() -> Any:
    """The Blocks in whose context this is called."""
    return Context.root_block


def event_of(trigger: Any) -> tuple[str, Any]:
    """The name of a trigger's event, and its component, if it is of one; '' and None for `earlier.success` or similar."""
    return (trigger.event_name, getattr(trigger, "__self__", None)) if trigger.has_trigger else ("", None)


# Gradio writes a stub (.pyi) beside every file with components, which gets out of date; type checkers would read it instead.
component_meta.create_or_modify_pyi = lambda *_: None


class HTMLComponent(gr.HTML):
    """The base of our subclasses of Gradio's HTML component: the browser loads its front end by the name returned here."""

    def get_block_name(self) -> str:
        """Gradio would look for a subclass of a subclass under its own name."""
        return "html"


def theme_css(theme: gr.Theme) -> str:
    """The style sheet of a theme, to put into the page's head: Gradio's page loads it after the first layout."""
    return theme._get_theme_css()


def statuses_script() -> str:
    """The front end's script with the class `LoadingStatus`, whose updates cost half of a click; see `assets/statuses.js`.

    The path by which the page requests it; "" if there is none.
    """
    assets = Path(gr.__file__).parent / "templates" / "frontend" / "assets"
    return next((f"assets/{path.name}" for path in assets.glob("statustracker-*.js")), "")


def holds_no_file(function: BlockFunction) -> bool:
    """Whether an endpoint returns only numbers and text, in which Gradio would search three times for files."""
    return [type(output) for output in function.outputs] == [Api]


# The server.


def wrap_app(app: Starlette, around: Callable[[ASGIApp], ASGIApp]) -> None:
    """Wrap the started app in `around`: a `middleware=` would be inside of what Gradio adds later."""
    app.middleware_stack = around(app.middleware_stack or app.build_middleware_stack())


async def user_of(request: Request) -> str | None:
    """The name of the user who has logged in, '' if no login is needed, None for a visitor who has not logged in.

    Gradio's own check does not cover our addresses.
    """
    app: Any = request.app
    if app.auth_dependency is not None:  # of an app that is mounted in another
        user = app.auth_dependency(request)
        return await user if inspect.isawaitable(user) else user
    if app.auth is None:
        return ""
    names = (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}")
    return app.tokens.get(next(filter(None, map(request.cookies.get, names)), None))


def ask_no_hub() -> None:
    """Keep Gradio from asking the Hub for a list of agents, as its client does when it answers a tool of an assistant.

    See https://github.com/huggingface/huggingface_hub/issues/4904.
    """
    _detect_agent._registry = {"standardEnvVars": [], "harnesses": {}}


def prepare_launch(blocks: gr.Blocks, waiting: int) -> None:
    """Set how many calls may wait, and make `blocks` behave on a Space as elsewhere, before they are launched.

    On a Space Gradio refuses every call that does not use its queue, as in our documentation, and allows a running program to be
    rewritten, for which it needs a package of the Hub and logs a traceback without it.
    """
    # `blocks.queue(max_size=waiting, api_open=True)` does the same, but builds the whole server again.
    blocks._queue.max_size, blocks.api_open = waiting, True
    http_server.get_space = lambda: None


def handler_of(blocks: gr.Blocks, function: BlockFunction | int) -> BlockFunction | None:
    """A handler by its index, which Gradio may pass instead."""
    return blocks.fns.get(function) if isinstance(function, int) else function


_arriving: ContextVar[list[list[Any]] | None] = ContextVar("_arriving", default=None)


class _BoundedForm(GradioMultiPartParser):
    """Gradio's parser for few files; parts that are not files have a maximum size, and interrupted files are deleted."""

    most = 64 * 1024  # bytes of a part that is not a file
    most_files = 10

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named | {"max_files": self.most_files})
        if (arriving := _arriving.get()) is not None:
            arriving.append(self._files_to_close_on_error)

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Handle a chunk of a part. Raises MultiPartException if a part that is not a file is too long."""
        if self._current_part.file is None and len(self._current_part.data) + end - start > self.most:
            raise MultiPartException("A form field that is not a file is too long.")
        super().on_part_data(data, start, end)

    async def parse(self) -> Any:
        """The parts of the form; if the request is interrupted, its files are deleted."""
        try:
            return await super().parse()
        except BaseException:
            _forget(self._files_to_close_on_error)
            raise


@contextmanager
def arriving_files() -> Iterator[None]:
    """Context manager for a request: deletes files that still have their temporary name when the request has been answered."""
    route_utils.GradioMultiPartParser = _BoundedForm
    token = _arriving.set([])
    try:
        yield
    finally:
        _forget(itertools.chain.from_iterable(_arriving.get() or ()))
        _arriving.reset(token)


def _forget(files: Any) -> None:
    """Close and delete files; those that arrived have another name by then."""
    for file in files:
        file.close()
        Path(file.name).unlink(missing_ok=True)
