"""The device of forward passes: the processor, or a graphics card after a check that it computes the same."""

from __future__ import annotations

import os
import re

from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.process import DEVICE

NAMES = re.compile(r"cpu|mps|cuda(:\d+)?")
TOLERANCE = 1e-3  # relative to the size of hidden states: float32 differs that much when sums are taken in another order


def check(name: str) -> None:
    """Raise InputError unless a device is valid and available."""
    if not NAMES.fullmatch(name):
        raise InputError(f"No device is called {name[:40]!r}. Use cpu, cuda, cuda:1 and so on, or mps.")
    there = {"cpu": True, "mps": torch.backends.mps.is_available(), "cuda": torch.cuda.is_available()}
    device = torch.device(name)
    if not there[device.type] or (device.index or 0) >= max(1, torch.cuda.device_count()):
        raise InputError(f"This machine, or its PyTorch, has no {name}. Leave --device out to compute on the processor.")


def choose() -> torch.device:
    """The device of forward passes: BERT_EXPLORER_DEVICE of the environment, or the processor."""
    return torch.device(os.environ.get(DEVICE) or "cpu")
