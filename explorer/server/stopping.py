"""Stop the app within a time limit: first trainings, which keep what they learnt, then the server."""

import os
import shutil
import signal
import threading
from typing import Any

import gradio as gr

from explorer.core import disk, jobs
from explorer.core.log import logger

LAST_EPOCH = 12.0  # seconds for trainings to finish their batch and save
BOUND = 20.0  # seconds after which the process exits, whatever still runs


def serve_until_told(blocks: gr.Blocks) -> None:
    """Wait for SIGTERM or Ctrl-C, then stop trainings and server, and return; a second signal exits at once."""
    told = threading.Event()

    def stop(number: int, frame: Any) -> None:
        if told.is_set():
            leave(128 + number)
        told.set()

    while not told.is_set():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)  # again and again, since Ray sets its own whenever it starts
        told.wait(0.5)  # on Windows, a wait without a timeout is not interrupted by signals
    close(blocks)


def leave(code: int) -> None:
    """Exit at once, whatever still runs."""
    shutil.rmtree(disk.temporary(), ignore_errors=True)
    os._exit(code)


def close(blocks: gr.Blocks) -> None:
    """Stop trainings, wait for them, and close the server; threads that hang are abandoned after BOUND seconds."""
    logger.warning("Stopping: trainings are asked to end and keep what they learnt")
    bound = threading.Timer(BOUND, leave, [1])
    bound.daemon = True
    bound.start()
    if not jobs.stop_all(LAST_EPOCH):
        logger.warning("A training did not end in time; it is lost")
    blocks.close(verbose=False)
