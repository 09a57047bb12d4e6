"""Which pieces of a batch are to be predicted, chosen by their ids: whole words, every place of a word, or one content word.

A chooser takes the ids [batch, tokens], which of them may be chosen, and the share wanted, as in explorer/text/masking.py; here
the ids decide too. Plain NumPy over the whole batch, because it runs at every step.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from explorer.text.masking import Bools, Ints, choose_pieces

Choice = Callable[[Ints, Bools, float, np.random.Generator], Bools]
"""(input_ids, eligible, rate, rng) -> chosen, bool; all [batch, tokens] but the rate."""


def pieces(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
    """Single pieces, as in the first BERT models."""
    return choose_pieces(eligible, rate, rng)


def whole_words(continues: NDArray[np.bool_]) -> Choice:
    """Words with all their pieces, until `rate` of all are chosen or just exceeded; `continues` [vocabulary] marks '##'."""

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        places = np.arange(input_ids.shape[1])
        starts = np.where(continues[input_ids], 0, places)  # a row begins with [CLS], which starts a word
        lots = rng.random(input_ids.shape)
        lots = np.take_along_axis(lots, np.maximum.accumulate(starts, axis=1), axis=1)  # one random number per word
        lots = np.where(eligible, lots, 2.0)
        counts = eligible.sum(axis=1)  # [batch]
        wanted = np.where(counts > 0, np.maximum(1, np.rint(rate * counts)), 0).astype(int)
        last = np.take_along_axis(np.sort(lots, axis=1), np.maximum(wanted - 1, 0)[:, None], axis=1)  # [batch, 1]
        return eligible & (lots <= last)

    return choose


def every_place(choose: Choice, content: NDArray[np.bool_]) -> Choice:
    """The positions chosen by `choose`, and all others in the row of a chosen content word, so that it cannot be copied."""

    def choose_all(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = choose(input_ids, eligible, rate, rng)
        rows = np.arange(len(input_ids))[:, None] * len(content)  # keeps equal ids of different rows apart
        keys = np.where(content[input_ids], input_ids + rows, -1)
        return chosen | (eligible & np.isin(keys, keys[chosen & (keys >= 0)]))

    return choose_all


def one_word(continues: NDArray[np.bool_], content: NDArray[np.bool_]) -> Choice:
    """One content word in every row, out of those that are a single piece; none in a row without such a word."""

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        goes_on = np.zeros_like(eligible)
        goes_on[:, :-1] = continues[input_ids[:, 1:]]
        fit = eligible & content[input_ids] & ~goes_on
        lots = np.where(fit, rng.random(input_ids.shape), 2.0)
        return fit & (lots == lots.min(axis=1, keepdims=True))

    return choose


def one_blank(continues: NDArray[np.bool_], content: NDArray[np.bool_]) -> Choice:
    """As in a sentence typed by a person: one content word in every row or, where there is none, `rate` of the pieces."""
    word = one_word(continues, content)

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = word(input_ids, eligible, rate, rng)
        without = ~chosen.any(axis=1, keepdims=True)  # [batch, 1]
        return chosen | choose_pieces(eligible & without, rate, rng)

    return choose
