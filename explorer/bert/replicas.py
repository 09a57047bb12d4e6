"""The client side of the workers of Ray Serve, for an app that was started with them. Without them Ray is not imported.

A front end sends ids and gets hidden states back. A worker that dies is replaced, and its work requested again; when no worker
answers, the front end runs the model itself. A start that fails is tried again, after pauses that double.
"""

import contextlib
import importlib.util
import logging
import os
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.bert import checkpoints
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
PAUSES = (5.0, 300.0)  # seconds between two attempts to start workers: first and longest
LEAVING = 8.0  # seconds for workers to end when the app stops
LOOK = 5.0  # seconds between two looks at how many workers are ready
UNDER_WAY, DEPLOYED = {"DEPLOYING", "DELETING"}, {"RUNNING", "UNHEALTHY"}  # Ray Serve's words for the state of an application
NONE = "The workers could not be started; the app runs the model itself and tries again in %.0f seconds"
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
        number = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"{number} worker{'s' if self.most > 1 else ''}"

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
        self.ready = 0  # workers that have run the model, a few seconds ago
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
_wanted: Scale | None = None
_ended = threading.Event()
_thread: threading.Thread | None = None  # the only one that starts, asks and leaves Ray, which aborts the process otherwise


def running() -> Replicas | None:
    """The workers, or None."""
    return _running


def ready() -> int | None:
    """The number of workers that are ready, for operators; None if none were asked for."""
    if _wanted is None:
        return None
    return _running.ready if _running else 0


def start(scale: Scale) -> None:
    """Begin to start workers on this machine, or on the cluster of RAY_ADDRESS; `running()` returns them once they answer."""
    global _thread, _wanted
    _wanted = scale
    _ended.clear()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray sends no usage statistics
    if not os.environ.get("RAY_ADDRESS"):
        os.environ.update(AT_HOME, RAY_AUTH_TOKEN=secrets.token_hex(32))  # once: Ray remembers the first
    # It lives as long as the workers: the system ends what Ray starts together with the thread that started it.
    _thread = threading.Thread(target=_keep_running, args=[scale], name="workers", daemon=True)
    _thread.start()


def stop() -> None:
    """Shut down the workers started here; those of a cluster stay for other front ends."""
    global _running, _wanted
    _running = _wanted = None
    _ended.set()
    if _thread is not None:
        _thread.join(LEAVING)


def _keep_running(scale: Scale) -> None:
    """Start the workers and watch them; after a failure, try again."""
    global _running
    pause = PAUSES[0]
    while not _ended.is_set():
        try:
            workers = _running = _deployed(scale)
            print(f"* {scale} ready", flush=True)
            pause = PAUSES[0]
            while not _ended.wait(LOOK):
                workers.ready = _ready()
        except Exception as error:
            _running = None
            if _ended.is_set():
                break
            logger.error(NONE, pause, exc_info=error)
            with contextlib.suppress(Exception):  # this thread must not die: nothing else starts workers
                _clear_up(error)
            _ended.wait(pause)
            pause = min(2 * pause, PAUSES[1])
    if "ray" in sys.modules:
        ray.shutdown()


def _clear_up(error: Exception) -> None:
    """Leave Ray, and end the processes of a node whose start failed: Ray forgets it, and its gcs_server would stay."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(node := frame.f_locals.get("self"), ray._private.node.Node):
            node.kill_all_processes(check_alive=False, wait=True)
    ray.shutdown()


def _deployed(scale: Scale) -> Replicas:
    """The workers, each of which has run the default model, deployed unless another front end has."""
    elsewhere = os.environ.get("RAY_ADDRESS", "")
    threads = 1 if elsewhere else max(1, cores() // scale.most)
    here = {} if elsewhere else {"num_cpus": threads * scale.most, "include_dashboard": False}
    ray.init(address=elsewhere or "local", log_to_driver=False, logging_level="ERROR", **here)
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    ray.serve.start(proxy_location="Disabled", logging_config=QUIET)
    while _status() in UNDER_WAY:  # by another front end
        time.sleep(1)
    if _status() not in DEPLOYED:
        worker = deployment().options(**_size(scale, threads)).bind(checkpoints.find())
        ray.serve.run(worker, name=APPLICATION, route_prefix=None)
    found = Replicas(ray.serve.get_app_handle(APPLICATION), scale.most)
    found.ready = _ready()
    return found


def _status() -> str:
    """The state of the workers as a whole, "" before there are any."""
    found = ray.serve.status().applications.get(APPLICATION)
    return str(found.status.value) if found else ""


def _ready() -> int:
    """The number of workers that are ready. Raises what Ray raises when it does not answer."""
    found = ray.serve.status().applications.get(APPLICATION)
    return sum(one.replica_states.get("RUNNING", 0) for one in found.deployments.values()) if found else 0


def _size(scale: Scale, threads: int) -> dict[str, Any]:
    """Options of the deployment: the number of workers, threads of each, and requests sent to one at a time."""
    size: dict[str, Any] = {"num_replicas": scale.least}
    if scale.most > scale.least:
        bounds = {"min_replicas": scale.least, "max_replicas": scale.most, "target_ongoing_requests": BUSY}
        size = {"autoscaling_config": bounds}
    return {**size, "max_ongoing_requests": FULL, "ray_actor_options": {"num_cpus": threads}, "logging_config": QUIET}
