"""Searching the vocabulary. Pure functions."""

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
        return _matching(pieces, query)
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


def _matching(pieces: Sequence[str], query: str) -> list[int]:
    begins, *inside, ends = query.split("*")
    return [id for id, piece in enumerate(pieces) if _fits(piece.casefold(), begins, inside, ends)]


def _fits(piece: str, begins: str, inside: Sequence[str], ends: str) -> bool:
    """Whether a piece has these parts in their order; the first place of each leaves most for the next."""
    if not piece.startswith(begins):
        return False
    at = len(begins)
    for part in inside:
        if (found := piece.find(part, at)) < 0:
            return False
        at = found + len(part)
    return len(piece) - at >= len(ends) and piece.endswith(ends)
