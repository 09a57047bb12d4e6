"""The answers at the right of the picture: guesses for the blank, whether B follows, the labels of a fine-tuned head."""

from collections.abc import Callable, Sequence

import numpy as np

from explorer.bert.families import LABELS
from explorer.overview.compute.runs import Run, label_shares, pair_shares, word_shares
from explorer.overview.pictures import Answer
from explorer.overview.run import TOP
from explorer.ui.subject import Subject

Bar = tuple[str, float, float | None]


def answers_of(subject: Subject, run: Run, before: Run | None, position: int) -> list[Answer]:
    """The groups of bars, from the top: the pair, the labels, and the guesses for the blank.

    `before` is the run without the changes in `run`, None if there are none.
    """
    model, head, found = subject.model, subject.model.own_head, []
    if model.capabilities.next_sentence and subject.trace.encoding.text_b:
        asked = "Are they in order?" if model.pair_names[0] == "InOrder" else "Does B follow A?"
        found.append(Answer(0, asked, _bars(model.pair_names, *_both(pair_shares, run, before), [0, 1]), pair=True))
    if head and head.task == LABELS and head.squash != "none":
        shares, was = _both(label_shares, run, before)
        found.append(Answer(0, "Which label?", _bars(head.labels, shares, was, np.argsort(-shares)[:TOP].tolist())))
    blanks = subject.trace.mask_positions if model.capabilities.fill_mask else []
    if blanks:
        blank = position if position in blanks else blanks[0]
        found.append(Answer(blank, "What is in the blank?", _guesses(run, before, blank)))
    elif model.capabilities.fill_mask and before is not None:
        found.append(Answer(position, f"“{run.trace.tokens[position]}”, read at the end", _guesses(run, before, position)))
    return found


def _guesses(run: Run, before: Run | None, position: int) -> list[Bar]:
    """The best words at a token in the end; after a change also what was best before it."""
    if before is None:
        return run.trace.once(("guesses", position), lambda: _best(run, None, position))
    return _best(run, before, position)


def _best(run: Run, before: Run | None, position: int) -> list[Bar]:
    shares, was = _both(lambda way: word_shares(way, position), run, before)
    ids = np.argsort(-shares)[:TOP].tolist()
    if was is not None and (first := int(was.argmax())) not in ids:
        ids = [*ids[:-1], first]
    names = dict(zip(ids, run.trace.model.pieces(ids), strict=True))
    return _bars(names, shares, was, ids)


def _both(read: Callable[[Run], np.ndarray], run: Run, before: Run | None) -> tuple[np.ndarray, np.ndarray | None]:
    return read(run), None if before is None else read(before)


def _bars(names: Sequence[str] | dict[int, str], shares: np.ndarray, was: np.ndarray | None, ids: Sequence[int]) -> list[Bar]:
    return [(names[id], float(shares[id]), None if was is None else float(was[id])) for id in ids]
