"""Addresses of models on the Hugging Face Hub, and what a download of one needs. Nothing here imports torch, which is slow."""

import errno
import io
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from huggingface_hub import constants
from tqdm import tqdm

from explorer.core.errors import ModelError
from explorer.core.steps import Stopped

EXAMPLE_ID = "google-bert/bert-base-uncased"
REVISION = re.compile(r"(?!.*\.\.|.{129})[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")  # a branch, tag or commit
NO_REVISION = f"The part after @ must be a branch, a tag or a commit, such as {EXAMPLE_ID}@main."
HUB_TIMEOUT = 10  # seconds in which the Hub must list a repository
NOT_STORABLE = {errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EPERM, errno.EROFS}

Report = Callable[[float, str], None]
"""Receives the progress of a download: a share from 0 to 1, and what is being done.

It may raise `Stopped`; what has been downloaded is kept.
"""

constants.HF_HUB_DISABLE_XET = True  # such downloads cannot be stopped
constants.DOWNLOAD_CHUNK_SIZE = 2**20  # bytes between two reports of progress, at which a download can be stopped


@dataclass(frozen=True)
class Place:
    id: str
    revision: str | None  # a branch, a tag or a commit; None for the default one

    @classmethod
    def of(cls, name: str) -> "Place":
        """The place that `id` or `id@revision` names.

        Raises ModelError unless the revision is one that git allows: the Hub's client makes a path of it, and would follow it
        anywhere.
        """
        repository, at, revision = name.partition("@")
        if at and not REVISION.fullmatch(revision):
            raise ModelError(NO_REVISION)
        return cls(repository, revision or None)

    def __str__(self) -> str:
        return self.id if self.revision is None else f"{self.id}@{self.revision}"


def weights_to_fetch(files: set[str]) -> list[str]:
    """The weight files to download: safetensors if there are any, else the older format, which is read with weights_only=True.

    [] if there are neither.
    """
    for single, index, shards in (
        ("model.safetensors", "model.safetensors.index.json", "model-*.safetensors"),
        ("pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*.bin"),
    ):
        if single in files:
            return [single]
        if index in files:
            return [index, shards]
    return []


def reporting_bar(report: Report, total: int) -> type[tqdm]:
    """A progress bar that reports the downloaded bytes of `total` instead of drawing on the terminal.

    The Hub updates several bars from its own threads; the reported share never decreases.
    """
    furthest, stopped = 0.0, threading.Event()

    class ReportingBar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "file": io.StringIO()})

        def update(self, *args: Any, **kwargs: Any) -> bool | None:
            if stopped.is_set():  # not in display(), where tqdm holds a lock
                raise Stopped
            return super().update(*args, **kwargs)

        def display(self, *args: Any, **kwargs: Any) -> None:
            nonlocal furthest
            if self.unit != "B" or min(self.n, total) <= furthest:
                return
            furthest = min(self.n, total)
            try:
                report(furthest / total, f"fetching {furthest / 1e6:.0f} of {total / 1e6:.0f} MB")
            except Stopped:
                stopped.set()

    return ReportingBar
