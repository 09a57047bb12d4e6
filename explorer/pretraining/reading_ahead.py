"""Batches made ahead by other processes, so that a fast GPU does not wait for them."""

from collections.abc import Iterator

from torch.utils.data import DataLoader, Dataset

from explorer.pretraining.batches import Batch
from explorer.pretraining.stream import BatchStream

AHEAD = 4  # batches a worker keeps ready


class _Steps(Dataset):
    """A stream's batches by (step, share of pieces chosen)."""

    def __init__(self, stream: BatchStream) -> None:
        self.stream = stream

    def __getitem__(self, wanted: tuple[int, float]) -> Batch:
        return self.stream.batch(*wanted)


def read_ahead(stream: BatchStream, wanted: Iterator[tuple[int, float]], workers: int) -> Iterator[Batch]:
    """The batches of an endless row of steps, in order, made by `workers` processes, or with 0 right here.

    The workers are forks, so that the text is in memory once.
    """
    ahead = {"prefetch_factor": AHEAD, "multiprocessing_context": "fork"} if workers else {}
    return iter(DataLoader(_Steps(stream), batch_size=None, sampler=wanted, num_workers=workers, **ahead))
