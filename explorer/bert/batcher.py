"""Batches forward passes that wait while the model is busy: many small passes cost more than a few larger ones."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from explorer.core.process import cores, half_the_cores
from explorer.text.encoding import Encoding

MOST_TOGETHER = 8  # more gain nothing when lengths differ, because of padding
BATCH_TOKENS = 1024  # including padding; more exceeds the processor's cache, fewer leaves cores idle

Read = Callable[[Sequence[Encoding]], list[Any]]
"""One pass over several encodings: a result for each."""
Waiting = tuple[Encoding, Future]


class Batcher:
    """Runs encodings in batches.

    It has no thread of its own: a waiting caller that gets a free pass runs it, for itself and others. Up to two passes run at
    the same time, since while one holds the interpreter, the other computes.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._reading = 0

    def result(self, encoding: Encoding, read: Read) -> Any:
        """The result of one encoding. Raises what `read` raises. Of two passes each uses half of the cores."""
        own: Future = Future()
        with self._changed:
            self._waiting.append((encoding, own))
        while not own.done():
            together, alone = self._next_batch(own)
            if together:
                with contextlib.nullcontext() if alone else half_the_cores():
                    self._read_together(together, read)
        return own.result()

    def _next_batch(self, own: Future) -> tuple[list[Waiting], bool]:
        """The batch that the caller must run now, and whether it is alone; an empty batch when its own result is ready."""
        with self._changed:
            self._changed.wait_for(lambda: own.done() or (self._reading < min(2, cores()) and self._waiting))
            if own.done():
                return [], True
            self._reading += 1
            together = _similar_lengths(self._waiting)
            self._waiting = [entry for entry in self._waiting if entry not in together]
            return together, self._reading == 1 and not self._waiting

    def _read_together(self, together: list[Waiting], read: Read) -> None:
        try:
            for (_, future), found in zip(together, read([encoding for encoding, _ in together]), strict=True):
                future.set_result(found)
        except BaseException as error:
            for _, future in together:
                future.set_exception(error)
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()


def _similar_lengths(waiting: Sequence[Waiting]) -> list[Waiting]:
    """The encoding that has waited longest, with those closest to it in length, as many as one pass should read."""
    first = waiting[0]
    longest, together = first[0].kept, [first]
    for entry in sorted(waiting[1:], key=lambda entry: abs(entry[0].kept - first[0].kept)):
        longest = max(longest, entry[0].kept)
        if len(together) == MOST_TOGETHER or longest * (len(together) + 1) > BATCH_TOKENS:
            break
        together.append(entry)
    return together
