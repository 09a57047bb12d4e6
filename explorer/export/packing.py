"""Compress long texts in links: zlib, then URL-safe base64, after a mark."""

import base64
import zlib

from explorer.core.errors import InputError

MARK = "~"  # a text that begins with the mark itself gets a second one in front
LONG = 200  # characters; shorter ones stay readable


def packed(text: str) -> str:
    """A text as it stands in a link: compressed if it is long and becomes shorter. Raises InputError."""
    if len(text) > LONG:
        try:
            raw = text.encode()
        except UnicodeEncodeError as error:
            raise InputError("A text holds half a character (a lone surrogate); paste it again.") from error
        short = MARK + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode("ascii").rstrip("=")
        if len(short) < len(text):
            return short
    return MARK + text if text.startswith(MARK) else text


def unpacked(text: str, most: int) -> str:
    """The text that `packed` wrote, of at most about `most` characters. Raises InputError if it is broken or too long."""
    if not text.startswith(MARK):
        return text
    if text.startswith(MARK * 2):
        return text[len(MARK) :]
    short = text[len(MARK) :]
    try:
        raw = base64.b64decode(short + "=" * (-len(short) % 4), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(raw, 4 * most + 1)  # UTF-8 takes four bytes a character at most
        if len(whole) > 4 * most:
            raise InputError("A text in the link is packed and far too long; send it another way.")
        if not unpacking.eof or unpacking.unused_data:
            raise InputError("A text in the link is cut off; copy the link once more.")
        return whole.decode()
    except (ValueError, zlib.error) as error:
        raise InputError("A text in the link cannot be unpacked; copy the link once more.") from error
