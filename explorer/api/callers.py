"""Who asks for what is computed now, and whether anybody still waits for it: `base.scheduling` has the rules."""

import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import anyio.from_thread

from explorer.api.gradio_seams import current_event, current_request, is_unheard
from explorer.base.errors import BusyError
from explorer.base.hosts import visitor
from explorer.base.scheduling import PAUSE, limited
from explorer.base.steps import finished, map_steps

Item = TypeVar("Item")
Result = TypeVar("Result")
UNREAD = 600  # messages: nobody came to listen for a minute, since Gradio sends at most ten a second


def caller() -> str:
    """The address of the program that asks, '' when it is this process itself."""
    request = current_request()
    return visitor(request.client) if request is not None else ""


def is_gone() -> bool:
    """Whether the client that asked has gone away, so that nobody will read the answer."""
    blocks, event_id = current_event()
    if blocks is not None and event_id is not None:  # it came through the queue, and listens on another connection
        return is_unheard(blocks, event_id, UNREAD)
    request = current_request()
    if request is None:
        return False
    try:
        return anyio.from_thread.run(request.request.is_disconnected)
    except RuntimeError:  # not a thread of the server's
        return False


def go_on() -> None:
    """Raises BusyError, which nobody will read, when the client has gone away."""
    if is_gone():
        raise BusyError("Nobody waits for the answer any more; ask again.")


def while_wanted(steps: Generator[Item, None, Result], tell: Callable[[Item], Any] = lambda step: None) -> Result:
    """What long work returns; it is told of every step, and stopped when the client has gone away."""
    looked = time.monotonic()

    def step(item: Item) -> None:
        nonlocal looked
        tell(item)
        if time.monotonic() - looked > PAUSE:
            looked = time.monotonic()
            go_on()

    return finished(map_steps(steps, step))


def bounded(handler: Callable, concurrency_id: str) -> Callable:
    """Let no more of a kind of long work run at once than there may, and none wait whose client has gone away."""
    return limited(handler, concurrency_id, go_on)
