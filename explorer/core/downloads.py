"""Files that a visitor may download for a while, at an address that cannot be guessed."""

import secrets
import threading
from pathlib import Path
from time import monotonic

VALID = 600.0  # seconds: time to think before pressing, and to retry a download that broke off

_offers: dict[str, tuple[Path, float]] = {}
_lock = threading.Lock()


def offer(path: Path) -> str:
    """A random token of 256 bits with which `offered` returns the file while it is valid."""
    token, now = secrets.token_urlsafe(32), monotonic()
    with _lock:
        for old in [one for one, (_, until) in _offers.items() if until < now]:
            del _offers[old]
        _offers[token] = path, now + VALID
    return token


def offered(token: str) -> Path | None:
    """The file offered under a token, or None when there is none or it has expired."""
    path, until = _offers.get(token, (None, 0.0))
    return path if path is not None and monotonic() <= until and path.is_file() else None
