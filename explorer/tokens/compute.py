"""Searching the vocabulary. Pure functions."""

import fnmatch
import glob
import re
from collections.abc import Sequence

from explorer.text.pieces import bare

CONTINUES = "##"


def search(pieces: Sequence[str], query: str) -> list[int]:
    """The ids of the pieces that match, best first: the piece itself, those that begin with it, those that contain it.

    A number also finds the piece with that id; `##` at the start finds only pieces that continue a word; `*` stands for any
    letters, as in `un*` and `*ing`. Case is ignored.
    """
    query = query.strip().casefold()
    if "*" in query.strip("#"):
        fits = re.compile(fnmatch.translate("*".join(map(glob.escape, query.split("*"))))).match  # does not backtrack past a *
        return [id for id, piece in enumerate(pieces) if fits(piece.casefold())]
    continues = query.startswith(CONTINUES)
    folded = [piece.casefold() for piece in pieces]

    def rank(id: int) -> int:
        piece, inside = pieces[id].lstrip("Ġ▁").casefold(), bare(pieces[id]).casefold()  # without the marks for a space
        fits = (query in (folded[id], piece), piece.startswith(query), inside.startswith(query), True)
        return fits.index(True)

    found = [id for id, piece in enumerate(folded) if (piece.startswith(query) if continues else query in piece)]
    found.sort(key=rank)
    if query.isdecimal() and int(query) < len(pieces):
        found = [int(query), *(id for id in found if id != int(query))]
    return found
