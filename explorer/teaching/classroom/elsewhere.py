"""Rooms of other front ends, which share the folder of runs: an empty file for each, touched for as long as it is open."""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from explorer.core import disk
from explorer.core.errors import ExplorerError

FOLDER = "rooms"  # within the folder of runs


class Elsewhere:
    """What this front end tells the others of its rooms, and what they tell.

    A room that nobody has touched for `forgotten` seconds was left by a process that was killed. Where the folder cannot
    be used, each front end knows of its own rooms only.
    """

    def __init__(self, forgotten: float) -> None:
        self._forgotten = forgotten

    def tell(self, words: Iterable[str]) -> None:
        """Say that these rooms are open here, now."""
        with contextlib.suppress(OSError, ExplorerError):
            place = _place()
            place.mkdir(mode=0o700, exist_ok=True)
            for word in words:
                (place / word).touch(mode=0o600)
                os.utime(place / word)

    def forget(self, word: str) -> None:
        """Say that a room is open no longer."""
        with contextlib.suppress(OSError, ExplorerError):
            (_place() / word).unlink()

    def has(self, word: str) -> bool:
        """Whether a front end has a room of this word, as `names.as_word` gives it; '' is none."""
        if not word:
            return False
        try:
            return abs(time.time() - (_place() / word).stat().st_mtime) < self._forgotten
        except (OSError, ExplorerError):
            return False


def _place() -> Path:
    return disk.folder() / FOLDER
