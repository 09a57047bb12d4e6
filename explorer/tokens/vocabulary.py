"""Search in the vocabulary, and the nearest neighbours of a piece."""

import fnmatch
import glob
import re
from collections.abc import Hashable, Sequence
from typing import Any

from explorer.analysis.similarity import nearest
from explorer.core.cache import OnceCache
from explorer.core.limits import QUERY
from explorer.text import limits
from explorer.text.pieces import bare
from explorer.ui.layout import col, row
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import memory, text
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, View, caption, part, sentence, settle

MOST_FOUND = 200
MOST_NEAR = 12
FOUND = [Column("piece", "name"), Column("id", "number")]
NEAR = [Column("id", "number"), Column("cosine", "number", form=".3f"), Column("", "bar")]
CONTINUES = "##"
_found: OnceCache[Hashable, list[int]] = OnceCache(4)  # by checkpoint and query: a finding and two tables ask for them


def _two_ids(value: Any) -> tuple[int, int] | None:
    fine = isinstance(value, list | tuple) and len(value) == 2 and all(type(id) is int and id >= 0 for id in value)
    return tuple(value) if fine else None


class Vocabulary(View):
    name, question = "tokens/vocabulary", "Which pieces does the model know?"
    layout = (row(col("query", "count", "pieces", width=5), col("nearest", "help", width=6)),)
    query: str = text(
        "play", "Search (play*, *tion, ##ing, an id)", limit=QUERY, max_length=QUERY.most, max_lines=1, elem_classes="inline long"
    )
    count = sentence()
    pieces = part("strips", height=300, marks=True)
    nearest = part("strips")
    help = caption(
        "Nearest by cosine (−1 to 1) in the word embedding table, the vectors that the model starts from. Neighbours are "
        "similar in use or spelling; context plays no part. Click a piece to see its neighbours."
    )
    detour: tuple[int, int] | None = memory(None, kept=_two_ids)  # (id of the selected token, id of the clicked piece)

    def compute(self, subject: Subject) -> Content:
        vocabulary, ids, asked = subject.model.vocabulary, self._matches(subject), self._asked(subject)
        few = f", the first {MOST_FOUND} are shown" if len(ids) > MOST_FOUND else ""
        count = "1 piece matches" if len(ids) == 1 else f"{len(ids):,} pieces match"
        near = [Row([vocabulary[id], id, cosine, max(cosine, 0.0)], token=id) for id, cosine in _neighbours(subject, asked)]
        named = Column(f"nearest to “{vocabulary[asked]}”", "name", name="nearest_piece")
        return {
            "count": f"{count}{few}." if ids else "No piece matches. Try fewer letters.",
            "pieces": strip_table(FOUND, [Row([vocabulary[id], id], token=id) for id in ids[:MOST_FOUND]], "pieces found"),
            "nearest": strip_table([named, *NEAR], near, "nearest pieces"),
        }

    def on_pieces(self, subject: Subject, index: int) -> Change:
        """Show the neighbors of the piece with this id, until another token is selected."""
        id = limits.check_integer(index, "the id", 0, subject.model.capabilities.vocab_size - 1)
        return settle(detour=(_id_of(subject), id))

    on_nearest = on_pieces

    def finding(self, subject: Subject) -> Finding:
        vocabulary, id = subject.model.vocabulary, self._asked(subject)
        (near, cosine), count = _neighbours(subject, id)[0], f"{len(vocabulary):,}"
        return Finding(f"“{vocabulary[id]}” is piece {id} of {count}; its nearest is “{vocabulary[near]}” (cosine {cosine:.2f}).")

    def _asked(self, subject: Subject) -> int:
        """The id whose neighbours are shown: of the piece last clicked, the selected token, or the best match of the search."""
        token, vocabulary = _id_of(subject), subject.model.vocabulary
        if self.detour and self.detour[0] == token and self.detour[1] < len(vocabulary):
            return self.detour[1]
        found = self._matches(subject) if subject.selection.token is None else []
        return found[0] if found else token

    def _matches(self, subject: Subject) -> list[int]:
        key = subject.model.checkpoint, self.query
        return _found.get(key, lambda: search(subject.model.vocabulary, self.query))


def _neighbours(subject: Subject, id: int) -> list[tuple[int, float]]:
    """The ids of the nearest pieces with their cosines, found once for the table and the finding."""
    return subject.trace.once(("nearest pieces", id), lambda: nearest(subject.model.word_table, id, MOST_NEAR))


def _id_of(subject: Subject) -> int:
    return subject.trace.ids[subject.token]


def search(pieces: Sequence[str], query: str) -> list[int]:
    """The ids of the pieces that match, best first: the piece itself, those that begin with it, those that contain it.

    A number also finds the piece with that id. `##` at the start finds only pieces that continue a word; `*` stands for any
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
