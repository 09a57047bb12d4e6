"""The data of the picture: the selected run, the place whose routes are followed, the rows of its tokens, and the answers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.bert.families import LABELS
from explorer.overview.compute import Run, Word, best_of, label_shares, pair_shares, read_words, run_of, turned, word_shares
from explorer.overview.pictures import Answer, Rows
from explorer.techniques.routes import Route, place_shares, routes
from explorer.text.encoding import Encoding
from explorer.ui.edits import edit_names, edits_of
from explorer.ui.pictures.base import MOST_AT_ONCE
from explorer.ui.subject import Subject, token_name

ROWS = 24  # of a long input, without the one for all other tokens
TOP = 5  # words shown at a place
MOST_ROUTES = 400  # routes to a place that are listed
Words = list[list[list[Word]]]
Bar = tuple[str, float, float | None]


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
    def of(cls, run: Run, position: int, state: int) -> "Followed":
        """Follow a place through the mixing of each layer."""

        def follow() -> Followed:
            mixed = run.mixed.shares
            found = place_shares(mixed, position, state)
            return cls(state, position, found, routes(mixed, found, MOST_ROUTES))

        return run.once(("followed", state, position), follow)

    @property
    def taken(self) -> list[Route]:
        """The routes from other tokens."""
        return [route for route in self.routes if route.key not in (route.query, self.position)]


def selected_run(subject: Subject) -> Run:
    """The run with all selected changes."""
    chosen, run = subject.selection, subject.swapped.trace
    return run_of(run, chosen.off, chosen.cut, edits_of(subject, run, subject.trace))


def changes_of(subject: Subject) -> list[dict[str, Any]]:
    """What is off, cut, swapped and edited: `label`, and `undo`, the index of the click that undoes it."""
    selection, tokens = subject.selection, subject.trace.tokens
    found = [{"label": f"head {layer}.{head} off", "undo": {"off": [layer, head]}} for layer, head in selection.off_from_one]
    for layer, query, key, head in selection.cut_from_one:
        where = f"head {layer}.{head}" if head else f"layer {layer}"
        label = f"{token_name(tokens, key)} → {token_name(tokens, query)}, {where}"
        found.append({"label": label, "undo": {"cut": [layer, query, key, head]}})
    if selection.swap:
        found.append({"label": "{1} for {0}".format(*selection.swap), "undo": {"back": "swap"}})
    return found + [{"label": one.label, "undo": {"back": one.field}} for one in edit_names(subject)]


def opens_on(subject: Subject) -> int:
    """The token that is followed first: the selected one, a blank, [CLS] if a head reads it, or the one that takes most."""
    trace, chosen, can = subject.trace, subject.selection.token, subject.model.capabilities
    if chosen is not None:
        return chosen
    if trace.mask_positions and can.own_head != LABELS:
        return trace.mask_positions[0]
    if can.own_head == LABELS or (trace.encoding.text_b and can.next_sentence):
        return 0
    sources = np.eye(trace.kept, dtype=np.float32)
    for layer in run_of(trace).mixed.shares:
        sources = layer @ sources  # [token, origin among the embeddings]
    words = [place for place in trace.encoding.text_positions if any(map(str.isalnum, trace.tokens[place]))]
    return min(words or trace.encoding.text_positions or [0], key=lambda place: sources[place, place])


def rows_of(encoding: Encoding, followed: Followed) -> Rows:
    """The tokens that have their own rows: all, or in a long input those through which most of the selected place has come."""
    if encoding.kept <= MOST_AT_ONCE:
        return Rows(encoding, tuple(range(encoding.kept)))
    through = followed.shares.sum(0)
    through[followed.position] = np.inf
    return Rows(encoding, tuple(sorted(np.argsort(-through)[:ROWS].tolist())))


def words_in(run: Run, before: Run | None, rows: Rows, row: int) -> Words:
    """The most probable words by state and row: one per box, several in the selected row and in the last state.

    Boxes that a change has not reached are taken from the run `before`, whose words are cached. 'Elsewhere' has none.
    """
    whole, last = before or run, len(run.states) - 1
    every = [(state, at) for state in range(last + 1) for at in range(len(rows.places))]
    words: dict[tuple[int, int], list[Word]] = {}

    def put(of: Run, boxes: Sequence[tuple[int, int]], best: int, key: Hashable = None) -> None:
        places = [(state, rows.places[at]) for state, at in boxes]
        found = of.once(key, lambda: read_words(of, places, best)) if key else read_words(of, places, best)
        words.update(zip(boxes, found, strict=True))

    put(whole, every[: -len(rows.places)], 1, ("words", rows.places))
    put(whole, every[-len(rows.places) :], TOP, ("last words", rows.places))
    put(whole, [box for box in every if box[1] == row], TOP, ("chosen words", rows.places[row]))
    if before is not None:
        changed = (run.states != before.states).any(-1).numpy()[:, list(rows.places)]
        for best in (1, TOP):
            put(run, [box for box in every if changed[box] and (best == TOP) == (box[0] == last or box[1] == row)], best)
    none = [[("", 0.0)]] if rows.elsewhere else []
    return [[words[state, at] for at in range(len(rows.places))] + none for state in range(last + 1)]


def words_before(old: Words, new: Words) -> list[list[str | None]]:
    """The first word of each box before a change, None where it is the same: [states][rows]."""
    boxes = (zip(*states, strict=True) for states in zip(old, new, strict=True))
    return [[was[0][0] if was[0][0] != now[0][0] else None for was, now in of_state] for of_state in boxes]


def turned_in(run: Run, rows: Rows) -> np.ndarray:
    """[states, rows] how much each token's vector changed in each layer (1 − cosine); 0 for 'elsewhere'."""
    own = turned(run)[:, list(rows.places)]
    return np.pad(own, ((0, 0), (0, 1))) if rows.elsewhere else own


def answers_of(subject: Subject, run: Run, before: Run | None, position: int) -> list[Answer]:
    """The groups of bars, from the top: the pair, the labels, and the guesses for the blank.

    `before` is the run without the changes in `run`, None if there are none.
    """
    model, head = subject.model, subject.model.own_head

    def read() -> list[Answer]:
        found = []
        if model.capabilities.next_sentence and subject.trace.encoding.text_b:
            asked = "Are they in order?" if model.pair_names[0] == "InOrder" else "Does B follow A?"
            was = pair_shares(before) if before else None
            found.append(Answer(0, asked, _bars(model.pair_names, pair_shares(run), was, [0, 1]), pair=True))
        if head and head.task == LABELS and head.squash != "none":
            shares, was = label_shares(run), label_shares(before) if before else None
            found.append(Answer(0, "Which label?", _bars(head.labels, shares, was, np.argsort(-shares)[:TOP].tolist())))
        blanks = subject.trace.mask_positions if model.capabilities.fill_mask else []
        if blanks:
            blank = position if position in blanks else blanks[0]
            found.append(Answer(blank, "What is in the blank?", _guesses(run, before, blank)))
        elif model.capabilities.fill_mask and before is not None:
            found.append(Answer(position, f"“{run.trace.tokens[position]}”, read at the end", _guesses(run, before, position)))
        return found

    return run.once(("answers", before and before.trace.encoding, position), read)


def _guesses(run: Run, before: Run | None, position: int) -> list[Bar]:
    """The best words at a token in the end; after a change also what was best before it."""
    shares = word_shares(run, position)
    was = None if before is None else before.trace.once(("shares", position), lambda: word_shares(before, position))
    ids = best_of(shares, TOP)
    if was is not None and (best := int(was.argmax())) not in ids:
        ids = [*ids[:-1], best]
    names = dict(zip(ids, run.trace.model.pieces(ids), strict=True))
    return _bars(names, shares, was, ids)


def _bars(names: Sequence[str] | dict[int, str], shares: np.ndarray, was: np.ndarray | None, ids: Sequence[int]) -> list[Bar]:
    return [(names[id], float(shares[id]), None if was is None else float(was[id])) for id in ids]
