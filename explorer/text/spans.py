"""Masking whole words and whole spans, beside the single pieces of `explorer.text.masking`.

Whole words: Devlin et al.'s later models choose all pieces of a word together. Spans: SpanBERT (Joshi et al. 2020,
section 3.1) chooses runs of complete words whose length is geometric, p = 0.2, clipped at 10, and treats all pieces
of a span alike. Clipping drops the lengths above 10 and scales the others up, which gives the paper's mean of 3.8.
"""

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.text.masking import KEPT, MASKED, RANDOM, UNTOUCHED, Bools, Chooser, Ints, MaskedPieces, check_shares, treat_pieces

GEOMETRIC_P: Final = 0.2
LONGEST: Final = 10
ATTEMPTS: Final = 200
"""Draws before a text that has no room left for a span is taken as full."""


def span_length_shares() -> NDArray[np.float64]:
    """The probability of each length in words, 1 to LONGEST: [LONGEST], summing to 1."""
    shares = GEOMETRIC_P * (1 - GEOMETRIC_P) ** np.arange(LONGEST)
    return shares / shares.sum()


def word_starts(eligible: Bools, words: Ints) -> list[NDArray[np.intp]]:
    """For one row [tokens]: the positions of each word, for words all of whose pieces are eligible."""
    edges = np.flatnonzero(np.diff(words) != 0) + 1
    runs = np.split(np.arange(len(words)), edges)
    return [run for run in runs if words[run[0]] >= 0 and eligible[run].all()]


def word_chooser(words: Ints) -> Chooser:
    """Whole words, uniformly, until at least `rate` of the eligible pieces are chosen.

    `words` [batch, tokens] numbers the words; equal neighbours are one word, -1 is none.
    """

    def choose(eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = np.zeros_like(eligible)
        for row in range(len(eligible)):
            runs = word_starts(eligible[row], words[row])
            budget = rate * eligible[row].sum()
            for index in rng.permutation(len(runs)):
                if chosen[row].sum() >= budget:
                    break
                chosen[row, runs[index]] = True
        return chosen

    return choose


def span_chooser(words: Ints) -> Chooser:
    """Spans of whole words until `rate` of the eligible pieces are chosen; a span never crosses what is not eligible.

    As in SpanBERT a length is drawn first and a start after it; the last span is cut to what is still wanted.
    """

    def choose(eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = np.zeros_like(eligible)
        for row in range(len(eligible)):
            _choose_spans(chosen[row], eligible[row], words[row], rate, rng)
        return chosen

    return choose


def _choose_spans(chosen: Bools, eligible: Bools, words: Ints, rate: float, rng: np.random.Generator) -> None:
    """Fill `chosen` [tokens] in place."""
    shares = span_length_shares()
    runs = word_starts(eligible, words)
    budget = max(1, round(rate * int(eligible.sum()))) if runs else 0
    for _ in range(ATTEMPTS):
        left = budget - int(chosen.sum())
        if left <= 0:
            return
        length = int(rng.choice(len(shares), p=shares)) + 1
        first = int(rng.integers(len(runs)))
        span = runs[first : first + length]
        joined = all(a[-1] + 1 == b[0] for a, b in pairwise(span))
        if len(span) < length or not joined or chosen[np.concatenate(span)].any():
            continue
        for run in span:  # whole words only: one that is longer than what is left still comes in complete
            if chosen.sum() < budget:
                chosen[run] = True


def spans_of(chosen: Bools) -> list[tuple[int, int]]:
    """[start, end) of each run of chosen places in one row [tokens]."""
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
    """Like `treat_pieces`, with one lot for all pieces of a run of chosen places, as SpanBERT has it.

    Raises InputError as `treat_pieces` does.
    """
    check_shares(shares)
    codes = np.full(input_ids.shape, UNTOUCHED)
    for row in range(len(chosen)):
        for start, end in spans_of(chosen[row]):
            codes[row, start:end] = rng.choice([MASKED, RANDOM, KEPT], p=shares)
    certain = {MASKED: (1.0, 0.0, 0.0), RANDOM: (0.0, 1.0, 0.0), KEPT: (0.0, 0.0, 1.0)}
    treated = {
        code: treat_pieces(input_ids, codes == code, mask_id=mask_id, random_ids=random_ids, rng=rng, shares=alone)
        for code, alone in certain.items()
    }
    read = np.select([codes == code for code in treated], [part.input_ids for part in treated.values()], input_ids)
    labels = np.maximum.reduce([part.labels for part in treated.values()])  # ids are above IGNORED
    return MaskedPieces(read, labels, codes.astype(np.int8))
