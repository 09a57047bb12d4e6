"""How every handler and endpoint is run: what a person reads when it fails, and who waits for whom."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr

from explorer.base.errors import ExplorerError
from explorer.base.limits import WAITING, WORKS
from explorer.base.log import logger

MODEL = {"concurrency_id": "model", "concurrency_limit": WAITING.most}
"""For every handler that asks a model: who is answered is chosen later, so that many calls of one visitor hold up no other."""

LOADING = {"concurrency_id": "load", "concurrency_limit": None}
"""For choosing a model, which may have to be fetched and read first: the others look around in theirs meanwhile."""

AT_ONCE = {"concurrency_id": "at once", "concurrency_limit": None}
"""For what computes nothing. (Past the queue, with `queue=False`, Gradio does not tell the page of states that changed.)"""

# Work that takes long: none of these holds up another, and `callers.bounded` sees to it that few of a kind run at once.
TRAINING = {"concurrency_id": "train", "concurrency_limit": WORKS.most}
MAPPING = {"concurrency_id": "map", "concurrency_limit": WORKS.most}  # starts by itself
FETCHING = {"concurrency_id": "fetch", "concurrency_limit": WORKS.most}
LONG_WORK = (TRAINING, MAPPING, FETCHING)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except gr.Error:
        raise
    except ExplorerError as error:
        raise gr.Error(str(error), print_exception=False) from error
    except Exception as error:
        logger.error("A handler failed", exc_info=error)
        raise gr.Error("That did not work, for a reason the server's log tells; the page keeps what it had.") from error


def friendly(handler: Callable) -> Callable:
    """Let a person read what went wrong: our own errors in their sentence, others as one that says no more."""

    @functools.wraps(handler)
    def run(*arguments: Any, **named: Any) -> Any:
        with _explained():
            return handler(*arguments, **named)

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Any]:
        with _explained():
            yield from handler(*arguments, **named)

    return run_on if inspect.isgeneratorfunction(handler) else run
