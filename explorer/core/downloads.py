"""Files that a visitor may download for a while, at an address that cannot be guessed."""

import secrets
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from explorer.core import disk

VALID = 600.0  # seconds: time to think before pressing, and to retry a download that broke off
MOST_WRITTEN = 512_000_000  # bytes of all files written for a download; the oldest make room


@dataclass(frozen=True)
class _Offer:
    path: Path
    until: float
    written: int  # bytes, of a file that was written for this download only


_offers: dict[str, _Offer] = {}
_lock = threading.Lock()


def offer(path: Path, written: int = 0) -> str:
    """A random token of 256 bits for `find_offered`. A file of which bytes were `written` for this is removed once it expired."""
    token, now = secrets.token_urlsafe(32), monotonic()
    with _lock:
        _offers[token] = _Offer(path, now + VALID, written)
        for expired in [key for key, known in _offers.items() if known.until < now]:
            _withdraw(expired)
        while sum(known.written for known in _offers.values()) > MOST_WRITTEN:
            _withdraw(next(key for key, known in _offers.items() if known.written))  # the oldest is the first
    return token


def offer_text(name: str, text: str) -> str:
    """A token like that of `offer`, for a text as a file of this name. Raises OSError."""
    content, path = text.encode(), Path(disk.temporary(), "downloads", secrets.token_urlsafe(32), name)
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_bytes(content)
    return offer(path, len(content))


def find_offered(token: str) -> Path | None:
    """The file offered under a token, or None when there is none or it has expired."""
    found = _offers.get(token)
    return found.path if found and monotonic() <= found.until and found.path.is_file() else None


def _withdraw(token: str) -> None:
    if (old := _offers.pop(token)).written:
        shutil.rmtree(old.path.parent, ignore_errors=True)
