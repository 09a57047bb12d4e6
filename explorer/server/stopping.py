"""Stop the app within a time limit, first trainings, which keep what they learned, then the server; and end it when it hangs."""

import faulthandler
import os
import shutil
import signal
import sys
import threading
from typing import Any

import gradio as gr
import uvicorn

from explorer.core import disk, jobs
from explorer.core.errors import logger

LAST_EPOCH = 12.0  # seconds for trainings to finish their batch and save
BOUND = 20.0  # seconds after which the process exits, whatever still runs
AT_EVERY_TICK = -(10**12)  # seconds between two calls by uvicorn, which compares times of day, and those may be set back


def serve_until_told(blocks: gr.Blocks) -> None:
    """Wait for SIGTERM or Ctrl-C, then stop trainings and server, and return; a second signal exits immediately."""
    told = threading.Event()

    def stop(number: int, frame: Any) -> None:
        if told.is_set():
            leave(128 + number)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while not told.wait(0.5):  # on Windows, a wait without a timeout is not interrupted by signals
        pass
    close(blocks)


def leave(code: int) -> None:
    """Exit immediately, whatever still runs."""
    shutil.rmtree(disk.temporary(), ignore_errors=True)
    os._exit(code)


def close(blocks: gr.Blocks) -> None:
    """Stop trainings, wait for them, and close the server; threads that hang are abandoned after BOUND seconds."""
    logger.warning("Stopping: trainings end now and keep what they learned")
    bound = threading.Timer(BOUND, leave, [1])
    bound.daemon = True
    bound.start()
    if not jobs.stop_all(LAST_EPOCH):
        logger.warning("A training did not end in time; it is lost")
    blocks.close(verbose=False)


# ---- Hanging. Code in C may hold the interpreter for hours; no thread of Python runs then, and no handler of a signal.


class Watch:
    """Ends the process, with the traceback of each thread, when the server's event loop has not moved for so many seconds.

    It is off under a debugger, which may hold the loop, and for 0 seconds, as in the local profile, where a terminal may suspend
    the app. The time that the machine sleeps does not count: the clock of Linux rests, and macOS and Windows (from 8 on) wait
    for a span of time awake.
    """

    def __init__(self, server: uvicorn.Server, seconds: float) -> None:
        self._server, self._seconds = server, seconds

    def begin(self) -> None:
        """Watch from the next tick of the loop on."""
        if self._seconds and sys.gettrace() is None:
            self._server.config.callback_notify, self._server.config.timeout_notify = self._live, AT_EVERY_TICK

    async def _live(self) -> None:
        faulthandler.dump_traceback_later(self._seconds, exit=True)  # a thread in C, which needs no interpreter
