"""Logging: our own messages only, never what a visitor typed.

An error's message may quote a text, so only the error's type and its place in the code are logged.
BERT_EXPLORER_LOG=json writes one JSON object a line, and a line for every call; otherwise only warnings, as plain lines.
"""

import json
import logging
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from explorer.core.errors import logger

FIELDS = ("call", "outcome", "seconds")  # extra fields of our own log records
FRAMES = 8  # of a traceback, innermost first


def configure(style: str) -> None:
    """Write all logs of this process to stderr, as "json" or plain."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines(style))
    logging.root.handlers = [handler]
    logger.setLevel(logging.INFO if style == "json" else logging.WARNING)
    logging.getLogger("transformers").handlers.clear()  # it brings a handler of its own
    logging.getLogger("transformers").propagate = True
    threading.excepthook = lambda error: logger.error("A thread failed", exc_info=error.exc_value)


class Lines(logging.Formatter):
    """`WARNING A call did not fit: ValueError at server/calls.py:25 call < …`; in the style "json" an object, with the time."""

    def __init__(self, style: str) -> None:
        super().__init__()
        self._is_json = style == "json"

    def format(self, record: logging.LogRecord) -> str:
        facts = _facts(record)
        if not self._is_json:
            return f"{record.levelname} {facts.pop('message')}" + "".join(f"; {name}: {value}" for name, value in facts.items())
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": time, "level": record.levelname.lower(), **facts})


def _facts(record: logging.LogRecord) -> dict[str, str | float]:
    """A record's message, fields and error. Of other loggers only the place is taken: their messages may contain values."""
    ours = record.name == logger.name
    message = record.getMessage() if ours else f"{record.name} at {_place(record.pathname, record.lineno)}"
    facts = {"message": message} | {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
    return facts | ({"error": _describe(*record.exc_info)} if record.exc_info and record.exc_info[0] else {})


def _describe(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> str:
    """An error's type and its frames, innermost first, followed by its cause."""
    frames = reversed(traceback.extract_tb(trace)[-FRAMES:])
    places = [f"{_place(frame.filename, frame.lineno)} {frame.name}" for frame in frames]
    cause = error.__cause__ if error is not None else None
    because = f" because of {_describe(type(cause), cause, cause.__traceback__)}" if cause is not None else ""
    return f"{kind.__name__} at {' < '.join(places)}{because}"


def _place(file: str, line: int | None) -> str:
    return f"{'/'.join(Path(file).parts[-3:])}:{line}"
