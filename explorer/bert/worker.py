"""The worker process behind Ray Serve: it holds networks, and no state of clients. Only `replicas` imports it."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from explorer.bert.batcher import MOST_TOGETHER, alike
from explorer.bert.checkpoints import Checkpoint
from explorer.bert.network import Network
from explorer.bert.pooled import Encoded, pooled
from explorer.core.cache import OnceCache
from explorer.core.lazy import Library
from explorer.core.limits import MODELS
from explorer.text.encoding import Encoding

if TYPE_CHECKING:
    import ray
else:
    ray = Library("ray")  # only installed for apps with workers

__all__ = ["Worker", "deployment", "ray"]

ANYWHERE, HERE = "[::]:", "127.0.0.1:"
Asked = tuple[Checkpoint, Sequence[Encoding]]


def deployment() -> "ray.serve.Deployment":
    """The worker as a deployment of Ray Serve, which batches waiting passes. Raises ImportError without Ray."""

    class Batched(Worker):
        @ray.serve.batch(max_batch_size=MOST_TOGETHER, batch_wait_timeout_s=0)
        async def states(self, asked: list[Asked]) -> list[list[np.ndarray]]:
            return await super().states(asked)

    return ray.serve.deployment(Batched, name=Worker.__name__)


class Worker:
    """Runs models for front ends: requests that wait during a pass are batched into the next, one pass at a time."""

    def __init__(self, first: Checkpoint) -> None:
        """Run the model of a checkpoint once: Serve sends requests to a worker only after this. Raises ModelError."""
        _listen_here_only()
        self._networks: OnceCache[Checkpoint, Network] = OnceCache(MODELS.most)
        self._one_pass = threading.Lock()
        self._pooled(first, [((0,), (0,))], self._network(first).capabilities.layers, "mean")

    async def states(self, asked: list[Asked]) -> list[list[np.ndarray]]:
        """The hidden states [layers + 1, tokens, hidden] float32 of each encoding, for each request. Raises ModelError."""
        return await asyncio.to_thread(self._states, asked)

    async def pooled(self, checkpoint: Checkpoint, encoded: list[Encoded], top: int, pooling: str) -> np.ndarray:
        """A whole batch of features, [batch, top + 1, hidden] float32, see `pooled.pooled`. Raises ModelError."""
        return await asyncio.to_thread(self._pooled, checkpoint, encoded, top, pooling)

    def _states(self, asked: Sequence[Asked]) -> list[list[np.ndarray]]:
        states: dict[tuple[int, int], np.ndarray] = {}
        for checkpoint in dict.fromkeys(of for of, _ in asked):
            waiting = [
                (encoding, (who, place))
                for who, (of, encodings) in enumerate(asked)
                for place, encoding in enumerate(encodings)
                if of == checkpoint
            ]
            while waiting:
                together = alike(waiting)
                waiting = [one for one in waiting if one not in together]
                with self._one_pass:
                    read = self._network(checkpoint).hidden_states_of([encoding for encoding, _ in together])
                states |= {place: one.numpy() for (_, place), one in zip(together, read, strict=True)}
        return [[states[who, place] for place in range(len(encodings))] for who, (_, encodings) in enumerate(asked)]

    def _pooled(self, checkpoint: Checkpoint, encoded: list[Encoded], top: int, pooling: str) -> np.ndarray:
        with self._one_pass:
            return pooled(self._network(checkpoint), encoded, top, pooling)

    def _network(self, checkpoint: Checkpoint) -> Network:
        return self._networks.get(checkpoint, lambda: Network(checkpoint))


def _listen_here_only() -> None:
    """Make Serve open this process's unused port on the local address instead of all addresses.

    Serve has no setting for it, and opens the port after the worker is made. Only with RAY_SERVE_USE_GRPC_BY_DEFAULT=1 would
    front ends use it, also those on other machines.
    """
    serve = ray.serve._private
    if serve.constants.RAY_SERVE_USE_GRPC_BY_DEFAULT:
        return
    open_port = serve.replica.add_port_to_grpc_server
    serve.replica.add_port_to_grpc_server = lambda server, address: open_port(server, address.replace(ANYWHERE, HERE))
