"""Files that are sent to endpoints."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from explorer.core.errors import InputError
from explorer.core.limits import MEGABYTE, TABLE_MEGABYTES


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
