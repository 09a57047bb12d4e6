"""Requests that come while the model reads are read together next: many small passes cost more than a few larger ones."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

import torch

from explorer.text.encoding import Encoding

MOST_TOGETHER = 32
BATCH_TOKENS = 1024  # padding included; more overflows the processor's cache, fewer leaves its cores idle

Read = Callable[[Sequence[Encoding]], list[torch.Tensor]]
"""Several encodings in one pass: [layers + 1, tokens, hidden] for each."""
Whose = TypeVar("Whose")
Waiting = tuple[Encoding, "Future[torch.Tensor]"]


class Batcher:
    """Reads encodings in batches, one after the other where the reading is done here.

    There is no thread of its own: whoever waits and finds nobody reading reads, for itself and for those beside it. One
    pass at a time: two at once on few cores are both slower than one after the other.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._reading = 0

    def states(self, encoding: Encoding, read: Read, places: int = 1) -> torch.Tensor:
        """The hidden states [layers + 1, tokens, hidden] of one encoding. Raises what `read` raises.

        `places` is how many readings there may be at once: more than one where they are done elsewhere.
        """
        own: Future[torch.Tensor] = Future()
        with self._changed:
            self._waiting.append((encoding, own))
        while not own.done():
            if together := self._turn(own, places):
                self._read_together(together, read)
        return own.result()

    def _turn(self, own: Future, places: int) -> list[Waiting]:
        """Those to be read now, by the caller; none when its own result has come while it waited."""
        with self._changed:
            self._changed.wait_for(lambda: own.done() or (self._reading < places and self._waiting))
            if own.done():
                return []
            self._reading += 1
            together = alike(self._waiting)
            self._waiting = [one for one in self._waiting if one not in together]
            return together

    def _read_together(self, together: list[Waiting], read: Read) -> None:
        try:
            for (_, future), states in zip(together, read([encoding for encoding, _ in together]), strict=True):
                future.set_result(states)
        except BaseException as error:
            for _, future in together:
                future.set_exception(error)
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()


def alike(waiting: Sequence[tuple[Encoding, Whose]]) -> list[tuple[Encoding, Whose]]:
    """The one that waits longest and those most like it in length, as many as one pass should read."""
    first = waiting[0]
    longest, together = first[0].kept, [first]
    for one in sorted(waiting[1:], key=lambda one: abs(one[0].kept - first[0].kept)):
        longest = max(longest, one[0].kept)
        if len(together) == MOST_TOGETHER or longest * (len(together) + 1) > BATCH_TOKENS:
            break
        together.append(one)
    return together
