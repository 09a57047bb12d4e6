"""The client side of the workers of Ray Serve, for an app that was started with them. Without them Ray is not imported.

A front end sends ids and gets hidden states back. A worker that dies is replaced, and its work requested again; when no worker
answers, the front end runs the model itself.
"""

import importlib.util
import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.bert.checkpoints import Checkpoint
from explorer.bert.pooled import Encoded
from explorer.bert.worker import deployment, ray
from explorer.core.cores import cores
from explorer.core.errors import InputError
from explorer.core.log import logger
from explorer.text.encoding import Encoding

RAY = "ray[serve]==2.60.0"
APPLICATION = "bert-explorer"
TRIES = 3  # of one request: a worker may die, and its replacement too
PATIENCE = 10.0  # seconds for one answer: a worker may have to load the model first
REST = 10.0  # seconds without requests to workers after none has answered
BUSY = 8  # requests per worker above which more workers are started, up to the maximum
FULL = 64  # requests per worker above which others wait in the front end
NONE = "The workers could not be started; the app reads by itself"
QUIET = {"enable_access_log": False, "log_level": "ERROR"}
AT_HOME = {  # for workers on this machine only
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on any system: listen on 127.0.0.1 only
    "RAY_AUTH_MODE": "token",  # and answer this app only
}


@dataclass(frozen=True)
class Scale:
    """The minimum number of workers, and the maximum under load."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"

    @classmethod
    def of(cls, given: str) -> "Scale | None":
        """The scale that "2" or "2-8" stands for, None for "0" or ''. Raises InputError when it is invalid or Ray is missing."""
        if given.strip() in ("", "0"):
            return None
        numbers = given.strip().split("-")
        if len(numbers) > 2 or not all(number.isascii() and number.isdecimal() for number in numbers):
            raise InputError("The workers must be a number such as 2, or two with a dash between them such as 2-8.")
        scale = cls(int(numbers[0]), int(numbers[-1]))
        if not 1 <= scale.least <= scale.most <= 1000:
            raise InputError("There must be 1 to 1,000 workers, and the second number must not be less than the first.")
        if importlib.util.find_spec("ray") is None:
            raise InputError(f'Workers need Ray, which is not installed; run pip install "{RAY}".')
        return scale


class Replicas:
    """A front end's connection to its workers, and whether they answered last time."""

    def __init__(self, handle: Any, most: int) -> None:
        self.places = 2 * most  # batches under way: one running and one waiting for each worker
        self.answers = 0
        self.failures = 0
        self._handle = handle
        self._rests_until = 0.0  # on the monotonic clock

    def states(self, checkpoint: Checkpoint, encodings: Sequence[Encoding]) -> list[np.ndarray] | None:
        """The hidden states [layers + 1, tokens, hidden] float32 of each encoding, or None when no worker answers."""
        sent = [replace(encoding, text_a="", text_b="", tokens=()) for encoding in encodings]
        states = self._ask("states", (checkpoint, sent))
        return None if states is None else [one.copy() for one in states]

    def pooled(self, checkpoint: Checkpoint, encoded: list[Encoded], *about: Any) -> np.ndarray | None:
        """A batch of features, see `pooled.pooled`, or None when no worker answers."""
        return self._ask("pooled", checkpoint, encoded, *about)  # callers copy what they keep

    def _ask(self, method: str, *arguments: Any) -> Any:
        """A worker's answer, or None if there is none; its arrays are read-only views of Ray's store."""
        for _ in range(TRIES):
            if time.monotonic() < self._rests_until:
                return None
            asked = getattr(self._handle, method).remote(*arguments)
            try:
                answer = asked.result(timeout_s=PATIENCE)
            except TimeoutError:
                self.failures += 1
                asked.cancel()
                break
            except Exception as error:  # from Ray or from the worker: running it here shows which
                self.failures += 1
                logger.warning("A worker did not answer", exc_info=error)
            else:
                self.answers += 1
                return answer
        self._rests_until = time.monotonic() + REST
        return None


_running: Replicas | None = None


def running() -> Replicas | None:
    """The workers, or None."""
    return _running


def start(scale: Scale) -> None:
    """Begin to start workers on this machine, or on the cluster of RAY_ADDRESS; `running()` returns them once they answer.

    Call it from the main thread, before signal handlers are set: Ray sets its own.
    """
    elsewhere = os.environ.get("RAY_ADDRESS", "")
    threads = 1 if elsewhere else max(1, cores() // scale.most)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray sends no usage statistics
    if not elsewhere:
        os.environ.update(AT_HOME, RAY_AUTH_TOKEN=secrets.token_hex(32))
    here = {} if elsewhere else {"num_cpus": threads * scale.most, "include_dashboard": False}
    try:
        ray.init(address=elsewhere or "local", log_to_driver=False, logging_level="ERROR", **here)
    except Exception as error:
        logger.error(NONE, exc_info=error)
        return
    threading.Thread(target=_deploy, args=[scale, threads], name="workers", daemon=True).start()


def stop() -> None:
    """Shut down the workers started here; those of a cluster stay for other front ends."""
    global _running
    _running = None
    if "ray" in sys.modules:
        ray.shutdown()


def _deploy(scale: Scale, threads: int) -> None:
    """Deploy the workers, unless another front end has, and wait until they answer."""
    global _running
    try:
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        ray.serve.start(proxy_location="Disabled", logging_config=QUIET)
        if APPLICATION not in ray.serve.status().applications:
            ray.serve.run(deployment().options(**_size(scale, threads)).bind(), name=APPLICATION, route_prefix=None)
        _running = Replicas(ray.serve.get_app_handle(APPLICATION), scale.most)
    except Exception as error:
        logger.error(NONE, exc_info=error)
    else:
        print(f"* {scale} workers read for this page", flush=True)


def _size(scale: Scale, threads: int) -> dict[str, Any]:
    """Options of the deployment: the number of workers, threads of each, and requests sent to one at a time."""
    size: dict[str, Any] = {"num_replicas": scale.least}
    if scale.most > scale.least:
        bounds = {"min_replicas": scale.least, "max_replicas": scale.most, "target_ongoing_requests": BUSY}
        size = {"autoscaling_config": bounds}
    return {**size, "max_ongoing_requests": FULL, "ray_actor_options": {"num_cpus": threads}, "logging_config": QUIET}
