"""The clock of one module: a change of the library's own would reach every thread of the process, as that of a served app."""

import importlib
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest


def set_clock(monkeypatch: pytest.MonkeyPatch, module: str, monotonic: Callable[[], float]) -> None:
    """Let `time.monotonic` be another function where a module of explorer asks for it."""
    assert importlib.import_module(module).time.monotonic
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(**{**vars(time), "monotonic": monotonic}))
