"""Masking whole words and whole spans; `explorer.text.masking` masks single pieces.

Whole words: Devlin et al.'s later models choose all pieces of a word together. Spans: SpanBERT (Joshi et al. 2020, section 3.1)
chooses runs of complete words whose length is geometric, p = 0.2, at most 10 (longer ones are dropped, which gives the paper's
mean of 3.8), and treats all pieces of a span alike.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.text.masking import KEPT, MASKED, RANDOM, UNTOUCHED, Bools, Chooser, Ints, MaskedPieces, check_shares, treat_pieces

GEOMETRIC_P: Final = 0.2
LONGEST: Final = 10


def span_length_shares() -> NDArray[np.float64]:
    """The probability of each length in words, 1 to LONGEST: [LONGEST], sum 1."""
    shares = GEOMETRIC_P * (1 - GEOMETRIC_P) ** np.arange(LONGEST)
    return shares / shares.sum()


def word_starts(eligible: Bools, words: Ints) -> list[NDArray[np.intp]]:
    """The positions of each word in one row [tokens], for words all of whose pieces are eligible."""
    edges = np.flatnonzero(np.diff(words) != 0) + 1
    runs = np.split(np.arange(len(words)), edges)
    return [run for run in runs if words[run[0]] >= 0 and eligible[run].all()]


def word_chooser(words: Ints) -> Chooser:
    """A chooser of whole words until `rate` of the pieces are chosen; equal neighbors in `words` are one word, -1 is none."""
    return partial(_row_by_row, _choose_words, words)


def span_chooser(words: Ints) -> Chooser:
    """A chooser of spans of whole words until `rate` of the eligible pieces are chosen; spans contain eligible pieces only.

    As in SpanBERT, first a length is drawn and then a start; the last span is cut to what is still needed.
    """
    return partial(_row_by_row, _choose_spans, words)


def _row_by_row(fill: Callable[..., None], words: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
    """The choice of `fill`, which fills each row [tokens] of False in place."""
    chosen = np.zeros_like(eligible)
    for row in zip(chosen, eligible, words, strict=True):
        fill(*row, rate, rng)
    return chosen


def _choose_words(chosen: Bools, eligible: Bools, words: Ints, rate: float, rng: np.random.Generator) -> None:
    runs = word_starts(eligible, words)
    for index in rng.permutation(len(runs)):
        if chosen.sum() >= rate * eligible.sum():
            break
        chosen[runs[index]] = True


def _choose_spans(chosen: Bools, eligible: Bools, words: Ints, rate: float, rng: np.random.Generator) -> None:
    shares = span_length_shares()
    runs = word_starts(eligible, words)
    budget = max(1, round(rate * int(eligible.sum()))) if runs else 0
    for _ in range(200):  # draws after which the text is taken as full
        left = budget - int(chosen.sum())
        if left <= 0:
            return
        length = int(rng.choice(len(shares), p=shares)) + 1
        first = int(rng.integers(len(runs)))
        span = runs[first : first + length]
        joined = all(a[-1] + 1 == b[0] for a, b in pairwise(span))
        if len(span) < length or not joined or chosen[np.concatenate(span)].any():
            continue
        for run in span:  # whole words only: one that exceeds the budget is still completed
            if chosen.sum() < budget:
                chosen[run] = True


def spans_of(chosen: Bools) -> list[tuple[int, int]]:
    """[start, end) of each run of chosen positions in one row [tokens]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def treat_spans(
    input_ids: Ints,
    chosen: Bools,
    *,
    mask_id: int,
    random_ids: Ints,
    rng: np.random.Generator,
    shares: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> MaskedPieces:
    """Like `treat_pieces`, with one random treatment for all pieces of a span, as in SpanBERT."""
    check_shares(shares)
    codes = np.full(input_ids.shape, UNTOUCHED)
    for row, places in zip(codes, chosen, strict=True):
        for start, end in spans_of(places):
            row[start:end] = rng.choice([MASKED, RANDOM, KEPT], p=shares)
    treated = {
        code: treat_pieces(input_ids, codes == code, mask_id=mask_id, random_ids=random_ids, rng=rng, shares=certain)
        for code, certain in ((MASKED, (1.0, 0.0, 0.0)), (RANDOM, (0.0, 1.0, 0.0)), (KEPT, (0.0, 0.0, 1.0)))
    }
    read = np.select([codes == code for code in treated], [part.input_ids for part in treated.values()], input_ids)
    labels = np.maximum.reduce([part.labels for part in treated.values()])  # ids are above IGNORED
    return MaskedPieces(read, labels, codes.astype(np.int8))
