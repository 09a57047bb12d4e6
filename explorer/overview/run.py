"""The data of the picture: the selected run, the place whose routes are followed, and the rows of its tokens."""

from dataclasses import dataclass

import numpy as np

from explorer.overview.compute.runs import Run, Word, first_difference, read_words, run_of, turned
from explorer.overview.pictures import Rows
from explorer.techniques.routes import Route, place_shares, routes
from explorer.text.encoding import Encoding
from explorer.ui.pictures.window import MOST_AT_ONCE
from explorer.ui.subject import Subject

ROWS = 24  # of a long input, without the one for all other tokens
TOP = 5  # words shown at a place
MOST_ROUTES = 400  # routes to a place that are listed
Words = list[list[list[Word]]]


@dataclass(frozen=True)
class Followed:
    """A place (hidden state and zero-based token), and where its contents come from.

    `shares` [state + 1, tokens] are how much of it comes from each token at each state; `routes` are in falling order.
    """

    state: int
    position: int
    shares: np.ndarray
    routes: list[Route]

    @classmethod
    def of(cls, mixed: np.ndarray, position: int, state: int) -> "Followed":
        """Follow a place through the mixing of each layer, [layers, query, key]."""
        found = place_shares(mixed, position, state)
        return cls(state, position, found, routes(mixed, found, MOST_ROUTES))

    @property
    def taken(self) -> list[Route]:
        """The routes from one token to another."""
        return [route for route in self.routes if route.query != route.key]


def selected_run(subject: Subject) -> Run:
    """The run with all selected changes. Raises CapabilityError for layers that cannot be decomposed."""
    chosen = subject.selection
    return run_of(subject.swapped.trace, chosen.off, chosen.cut, (*chosen.patch, subject.trace) if chosen.patch else None)


def opens_on(subject: Subject, mixed: np.ndarray) -> int:
    """The token that is followed first: the selected one, a blank, [CLS] of a pair, or the one that takes most from others."""
    trace, chosen = subject.trace, subject.selection.token
    if chosen is not None:
        return chosen
    if trace.mask_positions:
        return trace.mask_positions[0]
    if trace.encoding.text_b and subject.model.capabilities.next_sentence:
        return 0
    sources = np.eye(trace.kept, dtype=mixed.dtype)
    for layer in mixed:
        sources = layer @ sources  # [token, origin among the embeddings]
    words = [place for place in trace.encoding.text_positions if any(map(str.isalnum, trace.tokens[place]))]
    return min(words or trace.encoding.text_positions or [0], key=lambda place: sources[place, place])


def rows_of(encoding: Encoding, followed: Followed) -> Rows:
    """The tokens with a row of their own: all, or in a long input those through which most of the selected place has come."""
    if encoding.kept <= MOST_AT_ONCE:
        return Rows(encoding, tuple(range(encoding.kept)))
    through = followed.shares.sum(0)
    through[followed.position] = np.inf
    return Rows(encoding, tuple(sorted(np.argsort(-through)[:ROWS].tolist())))


def words_in(run: Run, before: Run | None, rows: Rows, row: int) -> Words:
    """The most probable words by state and row: one per box, several in the selected row and in the last state.

    States before the first effect of a change are taken from the run `before`, whose words are cached. 'Elsewhere' has none.
    """
    whole = before or run
    words = [*_kept_words(whole, 0, rows)]
    if before is not None and (first := first_difference(run, before)) < len(words):
        words[first:] = read_words(run, slice(first, None), rows.places)
    (last,) = read_words(run, slice(-1, None), rows.places, TOP) if before else _kept_words(run, -1, rows, TOP)
    chosen = read_words(run, slice(None), [rows.places[row]], TOP)
    words = [[*of_state[:row], best, *of_state[row + 1 :]] for of_state, (best,) in zip([*words[:-1], last], chosen, strict=True)]
    return [[*of_state, [("", 0.0)]] for of_state in words] if rows.elsewhere else words


def words_before(before: Run, rows: Rows, words: Words) -> list[list[str | None]]:
    """The first word of each box before a change, None where it is the same: [states][rows]."""
    there = len(rows.places)  # 'elsewhere' has no word
    pairs = (zip(old, new[:there], strict=True) for old, new in zip(_kept_words(before, 0, rows), words, strict=True))
    return [[old[0][0] if old[0][0] != new[0][0] else None for old, new in boxes] for boxes in pairs]


def _kept_words(run: Run, first: int, rows: Rows, best: int = 1) -> Words:
    """The best words at the tokens with a row, from hidden state `first` on, of an unchanged run; kept with its input."""
    return run.trace.once(("words", first, rows.places, best), lambda: read_words(run, slice(first, None), rows.places, best))


def turned_in(run: Run, rows: Rows) -> np.ndarray:
    """[states, rows] how much each token's vector changed in each layer (1 − cosine); 0 for 'elsewhere'."""
    own = turned(run)[:, list(rows.places)]
    return np.pad(own, ((0, 0), (0, 1))) if rows.elsewhere else own
