"""Shared by endpoints: files that are sent, and the form of guesses in an answer."""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from explorer.bert.network import MaskGuesses
from explorer.core.errors import InputError
from explorer.core.limits import MEGABYTE, TABLE_MEGABYTES


def masks_of(guesses: Sequence[MaskGuesses]) -> list[dict[str, Any]]:
    """The guesses for every [MASK] as JSON."""
    return [
        {
            "position": guess.position,
            "candidates": [
                {"token": candidate.token, "id": candidate.id, "probability": candidate.probability}
                for candidate in guess.candidates
            ],
        }
        for guess in guesses
    ]


@contextmanager
def sent_file(sent: object) -> Iterator[Path]:
    """A file with the bytes that were sent in Base64, for a while. Raises InputError."""
    if not isinstance(sent, str):
        raise InputError("Send the file as a text in Base64.")
    TABLE_MEGABYTES.check(len(sent) * 3 // 4 / MEGABYTE)
    try:
        data = base64.b64decode(sent, validate=True)
    except ValueError as error:
        raise InputError("The file is not in Base64; encode its bytes and send it again.") from error
    with TemporaryDirectory(prefix="bert-explorer-") as folder:
        path = Path(folder) / "sent"
        path.write_bytes(data)
        yield path
