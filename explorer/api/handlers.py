"""The wrapper of every handler and endpoint, which turns errors into sentences for people."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr

from explorer.core.errors import ExplorerError
from explorer.core.log import logger


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
    """Wrap a handler so that errors are readable: our own as their sentence, others as one that reveals nothing."""

    @functools.wraps(handler)
    def run(*arguments: Any, **named: Any) -> Any:
        with _explained():
            return handler(*arguments, **named)

    @functools.wraps(handler)
    def run_on(*arguments: Any, **named: Any) -> Iterator[Any]:
        with _explained():
            yield from handler(*arguments, **named)

    return run_on if inspect.isgeneratorfunction(handler) else run
