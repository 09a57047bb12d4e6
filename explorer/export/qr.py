"""A link as a QR code, for phones to photograph."""

import io

import segno

from explorer.core.errors import InputError

LONGEST = 1_500  # characters; a denser code cannot be read from a projector
QUIET = 4  # modules around the code, as the standard requires


def svg(address: str) -> bytes:
    """The code as SVG, dark on light in any theme. Raises InputError for a link that is too long."""
    if len(address) > LONGEST:
        raise InputError(f"The link has {len(address):,} characters, too many for a QR code. Shorten the texts or the settings.")
    made = io.BytesIO()
    code = segno.make(address, micro=False, error="l")  # the fewest modules; segno uses spare room for error correction
    code.save(made, kind="svg", border=QUIET, light="#fff", xmldecl=False, svgclass=None, lineclass=None, omitsize=True)
    return made.getvalue()
