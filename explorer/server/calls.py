"""Time every call of an endpoint or a page handler, and turn its failure into one sentence."""

import time
import traceback
from http import HTTPStatus
from typing import Any

import gradio as gr

from explorer.api.gradio_seams import handler_of
from explorer.core.errors import BusyError, ExplorerError
from explorer.core.log import logger
from explorer.page.blocks import PageBlocks
from explorer.server.metrics import Metrics
from explorer.server.refusals import FAILED, refuse_with

UNFIT = "What was sent does not fit this endpoint; send the arguments that GET /gradio_api/info lists, in their order."


def watch_calls(blocks: PageBlocks, metrics: Metrics) -> None:
    """From now on, time and log every call of `blocks`, without the time it waits, and let it fail with a sentence only.

    By default Gradio answers `null` to an exception other than gr.Error, and prints it with what was sent. A streaming call
    is timed until its first result.
    """
    answer = blocks.answer

    async def watched(block_fn: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        name, outcome, start = _name(blocks, block_fn), "ok", time.perf_counter()
        try:
            return await answer(block_fn, *arguments, **named)
        except Exception as error:
            outcome, status, shown = _explained(error)
            refuse_with(status)
            raise shown from error.__cause__ or error
        finally:
            seconds = time.perf_counter() - start
            if outcome != "ok":
                metrics.refused(outcome)
            if named.get("iterator") is None:
                metrics.called(name, seconds)
                logger.info("call", extra={"call": name, "outcome": outcome, "seconds": round(seconds, 4)})

    blocks.answer = watched  # type: ignore[method-assign]  # of this one app


def _explained(error: Exception) -> tuple[str, HTTPStatus, gr.Error]:
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
    logger.warning("A call did not fit", exc_info=error)
    return "unfit", HTTPStatus.UNPROCESSABLE_ENTITY, gr.Error(UNFIT, print_exception=False)


def _name(blocks: gr.Blocks, function: Any) -> str:
    """The endpoint's name; for a page handler, the id of the component that triggers it. Never a name from a visitor."""
    function = handler_of(blocks, function)
    if function is None or not function.targets or function.api_visibility == "public":
        return f"/{function.api_name}" if function is not None else "unknown"
    component = blocks.blocks.get(function.targets[0][0])
    return getattr(component, "elem_id", None) or getattr(component, "id", None) or function.name
