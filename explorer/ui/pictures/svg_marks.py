"""The elements of a printed picture: marks, text, colours, and the numbers along an axis; lengths are in px."""

from __future__ import annotations

import base64
import functools
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from explorer.core.paths import ASSETS

FONT = 8.0  # px: 6 points, the least that journals print
LETTER = 0.56 * FONT  # px: the mean width of a letter
INK, LINE = "#1a202c", "#cbd5e1"
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
MIDDLE, END = (0.62, 0.25, 252.0), (0.19, 0.06, 268.0)  # of the page's light ramp, as lightness, chroma and hue of OKLab
TICKS = 5


def mark(name: str, inside: str = "", **attributes: Any) -> str:
    """An element; None leaves an attribute out, `_` in a name stands for `-`."""
    given = ((key.replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    written = "".join(f' {key}="{_number(value)}"' for key, value in given)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def words(text: str, x: float, y: float, anchor: str = "start", turned: bool = False, room: float = 1e9) -> str:
    """Text with its baseline at (x, y), shortened to `room`; `turned` reads upwards."""
    shown = shortened(text, room)
    where: dict[str, Any] = {"transform": f"translate({x:.2f} {y:.2f}) rotate(-90)"} if turned else {"x": x, "y": y}
    return mark("text", plain(shown), **where, text_anchor=None if anchor == "start" else anchor)


def plain(text: str) -> str:
    """Text as XML has it."""
    return escape(UNPRINTABLE.sub("", text))


def shortened(text: str, room: float) -> str:
    """As much of the text as has room, with an ellipsis."""
    most = max(1, int(room / LETTER))
    return text if len(text) <= most else text[: most - 1] + "…"


def wide(text: str) -> float:
    """About how wide a text is."""
    return len(text) * LETTER


def painted(colour: str, name: str = "fill") -> dict[str, Any]:
    """A colour of a figure as attributes that any editor reads: names of the page resolved, opacity apart."""
    colour = re.sub(r"^var\((--[\w-]+)\)$", lambda found: _named().get(found[1], INK), str(colour))
    if found := re.match(r"rgba\(([^,]+),([^,]+),([^,]+),([^)]+)\)", colour):
        red, green, blue, opacity = (part.strip() for part in found.groups())
        return {name: f"rgb({red},{green},{blue})", f"{name}_opacity": float(opacity)}
    return {name: colour}


@functools.cache
def _named() -> dict[str, str]:
    """The page's colours by name, as they are in light."""
    found: dict[str, str] = {}
    for place in ("components/common.css", "file/page.css"):
        for name, value in re.findall(r"(?<![\w-])(--[\w-]+):\s*([^;]+);", (ASSETS / place).read_text("utf-8")):
            found.setdefault(name, value.strip())
    return found


@functools.cache
def sequential() -> np.ndarray:
    """The page's ramp from white to dark blue, [256, 3] bytes: a curve through OKLab, evenly spaced by its length."""
    t = np.linspace(0, 1, 1025)[:, None]
    start, middle, end = np.array([1.0, 0, 0]), _polar(*MIDDLE), _polar(*END)
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    places = np.searchsorted(along, np.linspace(0, along[-1], 256))
    return _bytes(curve[places])


def signed(low: str, high: str) -> np.ndarray:
    """From one colour over white to another, [256, 3] bytes."""
    ends = [np.array([int(painted(one)["fill"][i : i + 2], 16) for i in (1, 3, 5)]) for one in (low, high)]
    share = np.linspace(-1, 1, 256)[:, None]
    return np.rint(255 + np.abs(share) * (np.where(share < 0, *ends) - 255)).astype(np.uint8)


def _polar(lightness: float, chroma: float, hue: float) -> np.ndarray:
    return np.array([lightness, chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))])


def _bytes(lab: np.ndarray) -> np.ndarray:
    """OKLab as sRGB bytes (Ottosson 2020)."""
    cones = lab @ np.array(
        [[1, 1, 1], [0.3963377774, -0.1055613458, -0.0894841775], [0.2158037573, -0.0638541728, -1.2914855480]]
    )
    to_rgb = [[4.0767416621, -1.2684380046, -0.0041960863], [-3.3077115913, 2.6097574011, -0.7034186147]]
    linear = np.clip(cones**3 @ np.array([*to_rgb, [0.2309699292, -0.3413193965, 1.7076147010]]), 0, 1)
    return (
        np.rint(255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055))
        .clip(0, 255)
        .astype(np.uint8)
    )


def image(pixels: np.ndarray) -> str:
    """Pixels [rows, columns, 3] bytes as the address of a PNG."""
    rows, columns, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(made).decode("ascii")


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about TICKS of them."""
    step = (high - low) / TICKS or 1.0
    ten = 10 ** np.floor(np.log10(step))
    step = next(ten * factor for factor in (1, 2, 5, 10) if ten * factor >= step * 0.999)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [round(number * step, 12) for number in range(first, last + 1)]


def array(value: Any) -> np.ndarray:
    """An array of a figure, which may be packed as base64."""
    if isinstance(value, Mapping):
        kind = np.dtype({"f4": "<f4", "f8": "<f8", "u1": "u1", "i1": "i1", "i2": "<i2", "i4": "<i4", "u4": "<u4"}[value["dtype"]])
        flat = np.frombuffer(base64.b64decode(value["bdata"]), kind)
        return flat.reshape([int(size) for size in str(value["shape"]).split(",")]) if value.get("shape") else flat
    return np.asarray(value)


def thinned(count: int, room: float, least: float) -> Sequence[int]:
    """The places along an axis that are labelled, so that each has `least` px of its room."""
    wanted = max(1.0, count * least / max(room, 1.0))
    ten = 10 ** int(np.floor(np.log10(wanted)))
    return range(0, count, next(step * ten for step in (1, 2, 5, 10) if step * ten >= wanted))


def _number(value: Any) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else plain(str(value))
