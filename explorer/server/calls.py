"""Time every call of an endpoint or a page handler, and turn its failure into one sentence."""

import inspect
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import gradio as gr

from explorer.api.gradio_seams import BlockFunction, handler_of
from explorer.core.errors import BusyError, ExplorerError, InputError, logger
from explorer.page.blocks import PageBlocks
from explorer.server.metrics import CALLS, REFUSALS
from explorer.server.refusals import FAILED, refuse_with

UNFIT = "The request does not fit this endpoint. Send the arguments that GET /gradio_api/info lists, in their order."


@contextmanager
def timed(name: str, is_whole: bool = True) -> Iterator[dict[str, str]]:
    """Time and log a call, unless it only goes on with a stream. Yields its "outcome"; `name` must be one of our own."""
    call, start = {"call": name, "outcome": "ok"}, time.perf_counter()
    try:
        yield call
    except Exception as error:
        if call["outcome"] == "ok":
            call["outcome"] = type(error).__name__ if isinstance(error, ExplorerError) else "internal"
        raise
    finally:
        if is_whole:
            seconds = time.perf_counter() - start
            CALLS.labels(name).observe(seconds)
            logger.info("call", extra={**call, "seconds": round(seconds, 4)})


def watch_calls(blocks: PageBlocks) -> None:
    """From now on, time and log every call of `blocks`, without the time it waits, and let it fail with a sentence only.

    By default Gradio answers `null` to an exception other than gr.Error, and prints it with what was sent. A streaming call
    is timed until its first result.
    """
    answer = blocks.answer

    async def watched(block_fn: Any, inputs: list[Any], *others: Any, **named: Any) -> dict[str, Any]:
        function = handler_of(blocks, block_fn)
        with timed(_name(blocks, function), named.get("iterator") is None) as call:
            try:
                _check_number(function, inputs)
                return await answer(block_fn, inputs, *others, **named)
            except Exception as error:
                call["outcome"], status, shown = _explain(error)
                REFUSALS.labels(call["outcome"]).inc()
                refuse_with(status)
                raise shown from error.__cause__ or error

    blocks.answer = watched  # type: ignore[method-assign]  # of this one app


def _check_number(function: BlockFunction | None, inputs: list[Any]) -> None:
    """Raise InputError unless there is one value per argument of an endpoint: Gradio would leave out what is too much."""
    if function is None or function.api_visibility != "public" or len(inputs) == len(function.inputs):
        return
    names = ", ".join(inspect.signature(function.fn).parameters) if function.fn is not None else ""
    number = f"{len(function.inputs)} argument{'' if len(function.inputs) == 1 else 's'} in this order"
    raise InputError(f"/{function.api_name} takes {number}, and not {len(inputs)}: {names}.")


def _explain(error: Exception) -> tuple[str, HTTPStatus, gr.Error]:
    """The kind of an error, its status as an answer, and the gr.Error for its caller: only our own failures page an operator.

    Our handlers raise gr.Error with a cause; any other error comes from Gradio, which could not process what was sent, or what
    we return.
    """
    if isinstance(error, gr.Error) and (cause := error.__cause__) is not None:
        error.print_exception = False  # it is in the log already
        if not isinstance(cause, ExplorerError):
            return "internal", HTTPStatus.INTERNAL_SERVER_ERROR, error
        status = HTTPStatus.SERVICE_UNAVAILABLE if isinstance(cause, BusyError) else HTTPStatus.BAD_REQUEST
        return type(cause).__name__, status, error
    if any(frame.f_code.co_name == "write_outputs" for frame, _ in traceback.walk_tb(error.__traceback__)):
        logger.error("An answer could not be sent", exc_info=error)
        return "internal", HTTPStatus.INTERNAL_SERVER_ERROR, gr.Error(FAILED, print_exception=False)
    if isinstance(error, InputError):
        return "unfit", HTTPStatus.UNPROCESSABLE_ENTITY, gr.Error(str(error), print_exception=False)
    logger.warning("A call did not fit", exc_info=error)
    return "unfit", HTTPStatus.UNPROCESSABLE_ENTITY, gr.Error(UNFIT, print_exception=False)


def _name(blocks: gr.Blocks, function: BlockFunction | None) -> str:
    """The endpoint's name; for a page handler, the id of the component that triggers it. Never a name from a visitor."""
    if function is None or not function.targets or function.api_visibility == "public":
        return f"/{function.api_name}" if function is not None else "unknown"
    component = blocks.blocks.get(function.targets[0][0])
    return getattr(component, "elem_id", None) or getattr(component, "id", None) or function.name
