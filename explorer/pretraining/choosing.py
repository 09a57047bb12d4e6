"""Which pieces of a batch are to be predicted, told by their ids: whole words, every place of a word, or one word of content.

A chooser takes the ids [batch, tokens], which of them may be chosen, and the share that is wanted, as in
explorer/text/masking.py; here the ids decide too. Plain NumPy over the batch as a whole, since it is done at every step.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from explorer.text.masking import Bools, Ints, choose_pieces

Choice = Callable[[Ints, Bools, float, np.random.Generator], Bools]
"""(input_ids, eligible, rate, rng) -> what is chosen, [batch, tokens] each but the rate."""


def pieces(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
    """Single pieces, as BERT's first models had it."""
    return choose_pieces(eligible, rate, rng)


def whole_words(continues: NDArray[np.bool_]) -> Choice:
    """Words with all their pieces, until `rate` of all are chosen or just exceeded; `continues` [vocabulary] tells '##'."""

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        places = np.arange(input_ids.shape[1])
        starts = np.where(continues[input_ids], 0, places)  # a row begins with [CLS], which starts a word
        lots = rng.random(input_ids.shape)
        lots = np.take_along_axis(lots, np.maximum.accumulate(starts, axis=1), axis=1)  # one lot a word
        lots = np.where(eligible, lots, 2.0)
        counts = eligible.sum(axis=1)  # [batch]
        wanted = np.where(counts > 0, np.maximum(1, np.rint(rate * counts)), 0).astype(int)
        last = np.take_along_axis(np.sort(lots, axis=1), np.maximum(wanted - 1, 0)[:, None], axis=1)  # [batch, 1]
        return eligible & (lots <= last)

    return choose


def every_place(choose: Choice, content: NDArray[np.bool_]) -> Choice:
    """What `choose` says, and wherever else in the row a chosen word of content stands, so that it cannot be read off there."""

    def choose_all(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = choose(input_ids, eligible, rate, rng)
        rows = np.arange(len(input_ids))[:, None] * len(content)  # keeps the rows apart in one list of ids
        keys = np.where(content[input_ids], input_ids + rows, -1)
        return chosen | (eligible & np.isin(keys, keys[chosen & (keys >= 0)]))

    return choose_all


def one_word(continues: NDArray[np.bool_], content: NDArray[np.bool_]) -> Choice:
    """One word of content in every row that is a single piece; none in a row that has no such word."""

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        goes_on = np.zeros_like(eligible)
        goes_on[:, :-1] = continues[input_ids[:, 1:]]
        fit = eligible & content[input_ids] & ~goes_on
        lots = np.where(fit, rng.random(input_ids.shape), 2.0)
        return fit & (lots == lots.min(axis=1, keepdims=True))

    return choose


def one_blank(continues: NDArray[np.bool_], content: NDArray[np.bool_]) -> Choice:
    """As in a sentence that somebody types: one word of content in every row, or where there is none `rate` of the pieces."""
    word = one_word(continues, content)

    def choose(input_ids: Ints, eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
        chosen = word(input_ids, eligible, rate, rng)
        without = ~chosen.any(axis=1, keepdims=True)  # [batch, 1]
        return chosen | choose_pieces(eligible & without, rate, rng)

    return choose
