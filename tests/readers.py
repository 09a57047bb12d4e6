"""Functions that tests read files with, in a process of their own."""

import os
import time
from pathlib import Path

import numpy as np

from explorer.core.apart import apart
from explorer.core.errors import InputError, ModelError
from explorer.text.tables import Table


@apart
def read_here(path: Path, more: str = "") -> tuple[int, Table, np.ndarray, str]:
    """The process that reads, and a value of each kind."""
    return os.getpid(), Table(("text",), ((path.read_text()[:3],),), "about", path.name), np.arange(3.0), more


@apart
def refuse(path: Path) -> None:
    """An error with the process that raises it, as the file asks."""
    raise (InputError if path.name == "input.txt" else ModelError)(f"Process {os.getpid()}; send another file.")


@apart
def fail(path: Path) -> None:
    """A fault of ours, with a visitor's text in its message."""
    raise KeyError(path.read_text()[:9])


@apart
def fill(path: Path) -> int:
    """Takes more and more memory."""
    return len([bytes(2**28) for _ in range(2**10)])


@apart
def turn(path: Path) -> None:
    """Computes for ever."""
    while path:
        pass


@apart
def repeat(path: Path) -> list[str]:
    """More than a pipe holds."""
    return [f"{number} {path.name}" * 1_000 for number in range(1_000)]


@apart
def sleep(path: Path) -> None:
    """Tells its process beside the file, and waits for ever."""
    path.with_suffix(".pid").write_text(str(os.getpid()))
    while path:
        time.sleep(1)
