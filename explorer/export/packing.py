"""Compress long texts in links: zlib, then URL-safe base64, after a mark."""

import base64
import codecs
import zlib

from explorer.core.errors import InputError

MARK = "~"  # a text that begins with the mark itself gets a second one in front
LONG = 200  # characters; shorter ones stay readable
CHUNK = 65_536  # bytes that are unpacked before they are counted


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


class Unpacking:
    """Unpacks the texts of one link, which may have `most` characters all together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def unpacked(self, text: str, most: int) -> str:
        """The text that `packed` wrote, of at most `most` characters. Raises InputError if it is broken or too long."""
        if not text.startswith(MARK):
            return text
        if text.startswith(MARK * 2):
            return text[len(MARK) :]
        try:
            return self._expanded(text[len(MARK) :], most)
        except (ValueError, zlib.error) as error:
            raise InputError("A text in the link cannot be unpacked; copy the link once more.") from error

    def _expanded(self, short: str, most: int) -> str:
        raw = base64.b64decode(short + "=" * (-len(short) % 4), altchars=b"-_", validate=True)
        unpacking, decoder = zlib.decompressobj(), codecs.getincrementaldecoder("utf-8")()
        parts, most = [], min(most, self._left)
        while raw and not unpacking.eof:
            parts.append(decoder.decode(unpacking.decompress(raw, CHUNK)))
            most, raw = most - len(parts[-1]), unpacking.unconsumed_tail
            self._left -= len(parts[-1])
            if most < 0:
                raise InputError("A text in the link is packed and far too long; send it another way.")
        if not unpacking.eof or unpacking.unused_data:
            raise InputError("A text in the link is cut off; copy the link once more.")
        return "".join([*parts, decoder.decode(b"", final=True)])
