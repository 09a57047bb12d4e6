"""Searching the vocabulary. Pure functions."""

import re
from collections.abc import Sequence

CONTINUES = "##"


def search(pieces: Sequence[str], query: str) -> list[int]:
    """The ids of the pieces that match, best first: the piece itself, those that begin with it, those that contain it.

    A number also finds the piece with that id; `##` at the start finds only pieces that continue a word; `*` stands
    for any letters, so that `un*` is every piece that begins with un and `*ing` every one that ends in ing. Capitals
    make no difference.
    """
    query = query.strip().casefold()
    if "*" in query.strip("#"):
        return _matching(pieces, query)
    continues = query.startswith(CONTINUES)
    by_rank: tuple[list[int], ...] = ([], [], [], [])
    for id, piece in enumerate(pieces):
        folded = piece.casefold()
        if query in folded and (not continues or folded.startswith(query)):
            by_rank[_rank(folded, query)].append(id)
    found = [id for ids in by_rank for id in ids]
    if query.isdecimal() and int(query) < len(pieces):
        found = [int(query), *(id for id in found if id != int(query))]
    return found


def _rank(piece: str, query: str) -> int:
    if piece == query:
        return 0
    if piece.startswith(query):
        return 1
    return 2 if piece.startswith(CONTINUES + query) else 3


def _matching(pieces: Sequence[str], query: str) -> list[int]:
    pattern = re.compile(".*?".join(re.escape(part) for part in re.split(r"\*+", query)), re.DOTALL)
    return [id for id, piece in enumerate(pieces) if pattern.fullmatch(piece.casefold())]
