"""A link as a QR code, for those who sit in front of it with a phone."""

import io

import segno

from explorer.base.errors import InputError

LONGEST = 1_500  # characters; a denser code is not read off a projector
QUIET = 4  # modules around it, as the standard asks for


def svg(address: str) -> bytes:
    """An SVG of the code, dark on light whatever the page is. Raises InputError for a link that is too long."""
    if len(address) > LONGEST:
        raise InputError(f"The link has {len(address):,} characters, too many for a QR code; shorten the texts or the settings.")
    made = io.BytesIO()
    code = segno.make(address, micro=False, error="l")  # as few modules as can be; what room is left makes it sturdier
    code.save(made, kind="svg", border=QUIET, light="#fff", xmldecl=False, svgclass=None, lineclass=None, omitsize=True)
    return made.getvalue()
