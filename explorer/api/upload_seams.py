"""The seams to how Gradio reads uploads, as in `gradio_seams`: it leaves files of interrupted requests behind."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from gradio import route_utils
from gradio.route_utils import GradioMultiPartParser, MultiPartException

_arriving: ContextVar[list[list[Any]] | None] = ContextVar("_arriving", default=None)


class _BoundedForm(GradioMultiPartParser):
    """Gradio's parser for few files; parts that are not files have a maximum size, and interrupted files are deleted."""

    most = 64 * 1024  # bytes of a part that is not a file
    most_files = 10

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named | {"max_files": self.most_files})
        if (arriving := _arriving.get()) is not None:
            arriving.append(self._files_to_close_on_error)

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Handle a chunk of a part. Raises MultiPartException if a part that is not a file is too long."""
        if self._current_part.file is None and len(self._current_part.data) + end - start > self.most:
            raise MultiPartException("A form field that is not a file is too long.")
        super().on_part_data(data, start, end)

    async def parse(self) -> Any:
        """The parts of the form; if the request is interrupted, its files are deleted."""
        try:
            return await super().parse()
        except BaseException:
            _forget(self._files_to_close_on_error)
            raise


@contextmanager
def arriving_files() -> Iterator[None]:
    """Context manager for a request: deletes files that still have their temporary name when the request has been answered."""
    route_utils.GradioMultiPartParser = _BoundedForm
    token = _arriving.set([])
    try:
        yield
    finally:
        _forget(itertools.chain.from_iterable(_arriving.get() or ()))
        _arriving.reset(token)


def _forget(files: Any) -> None:
    """Close and delete files; those that arrived have another name by then."""
    for file in files:
        file.close()
        Path(file.name).unlink(missing_ok=True)
