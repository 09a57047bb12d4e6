"""Batches prepared by other processes, so that a fast GPU does not wait for them."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.core.engine import torch
from explorer.pretraining.batches import Batch
from explorer.pretraining.stream import BatchStream

AHEAD = 4  # batches a worker keeps ready


class _Steps:
    """The batches of a stream by (step, share of pieces chosen), in the form that torch's DataLoader needs."""

    def __init__(self, stream: BatchStream) -> None:
        self.stream = stream

    def __getitem__(self, wanted: tuple[int, float]) -> Batch:
        return self.stream.batch(*wanted)


def read_ahead(stream: BatchStream, wanted: Iterator[tuple[int, float]], workers: int) -> Iterator[Batch]:
    """The batches of an endless series of steps, in order, made by `workers` processes, or with 0 in this one.

    The workers are forks, so that the text is in memory only once.
    """
    ahead = {"prefetch_factor": AHEAD, "multiprocessing_context": "fork"} if workers else {}
    return iter(torch.utils.data.DataLoader(_Steps(stream), batch_size=None, sampler=wanted, num_workers=workers, **ahead))
