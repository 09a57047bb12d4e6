"""Files that a visitor may download for a while, at an address that cannot be guessed."""

import secrets
import shutil
import threading
from pathlib import Path
from time import monotonic

from explorer.core import disk

VALID = 600.0  # seconds: time to think before pressing, and to retry a download that broke off
MOST = 200  # downloads offered at the same time; the oldest make room

_offers: dict[str, tuple[Path, float]] = {}  # files, and until when they are offered; the oldest first
_lock = threading.Lock()


def offer(path: Path) -> str:
    """A random token of 256 bits with which `find_offered` returns the file while it is valid."""
    token, now = secrets.token_urlsafe(32), monotonic()
    with _lock:
        _offers[token] = path, now + VALID
        while len(_offers) > MOST or next(iter(_offers.values()))[1] < now:
            old, _ = _offers.pop(next(iter(_offers)))
            if _folder() in old.parents:
                shutil.rmtree(old.parent, ignore_errors=True)
    return token


def offer_text(name: str, text: str) -> str:
    """A token like that of `offer`, for a text as a file of this name, which is removed in the end. Raises OSError."""
    path = _folder() / secrets.token_urlsafe(32) / name
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_bytes(text.encode())
    return offer(path)


def find_offered(token: str) -> Path | None:
    """The file offered under a token, or None when there is none or it has expired."""
    path, until = _offers.get(token, (None, 0.0))
    return path if path and monotonic() <= until and path.is_file() else None


def _folder() -> Path:
    """Where texts are written for their download only."""
    return Path(disk.temporary(), "downloads")
