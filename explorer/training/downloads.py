"""Files that a visitor may fetch for a while, by an address that nobody can guess."""

import secrets
import threading
from pathlib import Path
from time import monotonic

VALID = 600.0  # seconds: as long as a person may think before pressing, and a broken download may be tried again

_offers: dict[str, tuple[Path, float]] = {}
_lock = threading.Lock()


def offer(path: Path) -> str:
    """A token of 256 bits of chance, for which `offered` gives the file as long as it is valid."""
    token, now = secrets.token_urlsafe(32), monotonic()
    with _lock:
        for old in [one for one, (_, until) in _offers.items() if until < now]:
            del _offers[old]
        _offers[token] = path, now + VALID
    return token


def offered(token: str) -> Path | None:
    """The file that was offered under a token, or None when there is none (any more)."""
    path, until = _offers.get(token, (None, 0.0))
    return path if path is not None and monotonic() <= until and path.is_file() else None
