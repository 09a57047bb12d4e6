"""Every call of an endpoint or of a handler of the page: how long it took, and one sentence when it fails."""

import time
from typing import Any

import gradio as gr

from explorer.base.errors import ExplorerError
from explorer.base.log import logger
from explorer.server.metrics import Metrics

UNFIT = "What was sent does not fit this endpoint; send the arguments that GET /gradio_api/info lists, in their order."


def watch_calls(blocks: gr.Blocks, metrics: Metrics) -> None:
    """Time and log every call of `blocks` from now on, and let it fail with a sentence only.

    Gradio itself answers `null` for what is no gr.Error, and prints it with what was sent.
    """
    process = blocks.process_api

    async def process_api(block_fn: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        name, outcome, start = _name(blocks, block_fn), "ok", time.perf_counter()
        try:
            return await process(block_fn, *arguments, **named)
        except gr.Error as error:
            error.print_exception = False  # it is in the log already
            outcome = type(error.__cause__).__name__ if isinstance(error.__cause__, ExplorerError) else "internal"
            raise
        except Exception as error:  # our own handlers raise gr.Error only: what was sent did not even reach one
            outcome = "unfit"
            logger.warning("A call did not fit", exc_info=error)
            raise gr.Error(UNFIT, print_exception=False) from error
        finally:
            seconds = time.perf_counter() - start
            metrics.called(name, seconds)
            if outcome != "ok":
                metrics.refused(outcome)
            logger.info("call", extra={"call": name, "outcome": outcome, "seconds": round(seconds, 4)})

    blocks.process_api = process_api


def _name(blocks: gr.Blocks, function: Any) -> str:
    """The endpoint's name; for a handler of the page, the id of what triggers it; names of our own, all of them."""
    function = blocks.fns.get(function) if isinstance(function, int) else function
    if function is None or not function.targets or function.api_visibility == "public":
        return f"/{function.api_name}" if function is not None else "unknown"
    component = blocks.blocks.get(function.targets[0][0])
    return getattr(component, "elem_id", None) or getattr(component, "id", None) or function.name
