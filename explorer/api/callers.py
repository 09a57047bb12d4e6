"""Around a call: its caller, whether the client still waits (`core.scheduling` has the rules), and errors as sentences."""

import base64
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio.from_thread
import gradio as gr

from explorer.api.gradio_seams import current_request, is_unheard
from explorer.core.errors import BusyError, ExplorerError, InputError, logger
from explorer.core.hosts import visitor
from explorer.core.limits import MEGABYTE, TABLE_MEGABYTES, WAITING_WORKS, WORKS
from explorer.core.process import half_the_cores
from explorer.core.scheduling import GONE, LONG_WORK, PAUSE, Places
from explorer.core.steps import finished, map_steps, within

Item = TypeVar("Item")
Result = TypeVar("Result")
UNREAD = 600  # unread messages: a minute without a listener, since Gradio sends at most ten a second


def caller() -> str:
    """The address of the calling program, '' for this process itself."""
    request = current_request()
    return visitor(request.client) if request is not None else ""


def go_on() -> None:
    """Raise BusyError, which no one will read, if the client of the current call has gone."""
    gone = is_unheard(UNREAD)  # None unless it came through the queue: then its client listens on another connection
    if gone is None and (request := current_request()) is not None:
        with suppress(RuntimeError):  # not a thread of the server
            gone = anyio.from_thread.run(request.request.is_disconnected)
    if gone:
        raise BusyError(GONE)


def run_while_wanted(steps: Generator[Item, None, Result], tell: Callable[[Item], Any] = lambda step: None) -> Result:
    """The result of long work; calls the given function at every step, and stops when the client has gone."""
    looked = time.monotonic()

    def step(item: Item) -> None:
        nonlocal looked
        tell(item)
        if time.monotonic() - looked > PAUSE:
            looked = time.monotonic()
            go_on()

    return finished(map_steps(steps, step))


_long_work = {kind["concurrency_id"]: Places(WORKS.most, WAITING_WORKS) for kind in LONG_WORK}


def bound(handler: Callable, concurrency_id: str) -> Callable:
    """A handler of long work, wrapped to wait for a place of its kind while its client does; other handlers unchanged."""
    if (places := _long_work.get(concurrency_id)) is None:
        return handler
    # Half of the cores at every step, because Gradio may run the next in another thread.
    return within(handler, lambda: places.place_of_thread(go_on), half_the_cores)


@contextmanager
def _explain() -> Iterator[None]:
    try:
        yield
    except gr.Error:
        raise
    except ExplorerError as error:
        raise gr.Error(str(error), print_exception=False) from error
    except Exception as error:
        logger.error("A handler failed", exc_info=error)
        raise gr.Error("Something went wrong, and nothing on the page has changed. The server's log has the details.") from error


friendly = partial(within, around=_explain)
"""Wraps a handler so that errors are readable: our own as their sentence, others as one that reveals nothing."""


@contextmanager
def sent_file(sent: object) -> Iterator[Path]:
    """A file with the bytes that were sent in Base64, for a while. Raises InputError."""
    if not isinstance(sent, str):
        raise InputError("Send the file as a text in Base64.")
    TABLE_MEGABYTES.check(len(sent) * 3 // 4 / MEGABYTE)  # before it is decoded
    try:
        data = base64.b64decode(sent, validate=True)
    except ValueError as error:
        raise InputError("The file is not in Base64. Encode its bytes and send it again.") from error
    with TemporaryDirectory(prefix="bert-explorer-") as folder:
        path = Path(folder) / "sent"
        path.write_bytes(data)
        yield path
