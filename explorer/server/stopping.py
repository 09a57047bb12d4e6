"""The end of the app: trainings end first and keep what they learnt, then the server, all within a bound."""

import os
import signal
import threading
from typing import Any

import gradio as gr

from explorer.base.log import logger
from explorer.model import replicas
from explorer.training import jobs

LAST_EPOCH = 12.0  # seconds that trainings may take to end after their batch and write what they learnt
BOUND = 20.0  # seconds after which the process is gone, whatever still runs


def serve_until_told(blocks: gr.Blocks) -> None:
    """Return after the first SIGTERM or Ctrl-C, when trainings have ended and the server is closed; a second ends at once."""
    told = threading.Event()

    def stop(number: int, frame: Any) -> None:
        if told.is_set():
            os._exit(128 + number)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while not told.wait(0.5):  # a wait without an end hears no signal on Windows
        pass
    close(blocks)


def close(blocks: gr.Blocks) -> None:
    """Ask trainings to end, wait for them, and close the server; threads that hang are left behind after BOUND seconds."""
    logger.warning("Stopping: trainings are asked to end and keep what they learnt")
    bound = threading.Timer(BOUND, os._exit, [1])
    bound.daemon = True
    bound.start()
    if not jobs.stop_all(LAST_EPOCH):
        logger.warning("A training did not end in time; it is lost")
    blocks.close(verbose=False)
    replicas.stop()
