"""Linear CKA between the hidden states of one model, or of two, over a whole corpus: exact, a block of words at a time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from explorer.analysis.similarity import cka_of_products
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import map_steps
from explorer.corpus.compute.word_states import WordStates

FEWEST = 4  # words: the unbiased estimator divides by their number minus 3
CENTRING = 0.05  # the share of the progress that goes to the means of one model


@dataclass(frozen=True)
class _Centred:
    """Words, the mean vector of each hidden state [layers, hidden], and the squared lengths after centring [layers, words]."""

    words: WordStates
    means: np.ndarray
    squares: np.ndarray

    def at(self, block: WordStates, place: int) -> torch.Tensor:
        """[words, hidden] float32: a block of words, centred, at hidden state `place` among those that were read."""
        return torch.from_numpy(block.at(self.words.layers[place]) - self.means[place])


def cka_in_steps(here: WordStates, there: WordStates) -> Generator[float, None, np.ndarray]:
    """Linear CKA, −1 to 1, of every hidden state of `here` with every one of `there`, over the same words: [here, there].

    It is the unbiased estimator, see `cka_of_products`. The products of one hidden state of `here` with all of `there` are in
    memory at a time. Both may be the same object. Yields the share done. Raises InputError for fewer than 4 words.
    """
    if len(here) < FEWEST:
        raise InputError(f"Layers are compared by {FEWEST} words or more; take more sentences.")
    same, states = here is there, len(here.layers)
    mine = yield from map_steps(_centred(here), lambda share: CENTRING * share)
    yours = mine if same else (yield from map_steps(_centred(there), lambda share: CENTRING * (1 + share)))
    jobs = [
        (mine, row, yours, [column for column in range(len(there.layers)) if not same or column >= row]) for row in range(states)
    ]
    jobs += [] if same else [(side, row, side, [row]) for side in (mine, yours) for row in range(len(side.means))]
    total, sums = sum(len(columns) for *_, columns in jobs), []
    for job in jobs:
        sums.append(_products(*job))
        yield 2 * CENTRING + (1 - 2 * CENTRING) * sum(map(len, sums)) / total
    products = np.array([[np.nan] * (len(there.layers) - len(row)) + row for row in sums[:states]])
    if same:
        products = np.where(np.isnan(products), products.T, products)
        own = [np.diag(products)] * 2
    else:
        alone = np.concatenate(sums[states:])
        own = [alone[:states], alone[states:]]
    return cka_of_products(products, own, (mine.squares, yours.squares))


def _centred(words: WordStates) -> Generator[float, None, _Centred]:
    """Means and centred squared lengths of the words; yields the share done."""
    means = np.zeros((len(words.layers), words.width))
    for rows, block in words.blocks():
        for place, layer in enumerate(words.layers):
            means[place] += block.at(layer).sum(axis=0, dtype=np.float64)
        yield 0.5 * rows.start / len(words)
    means = (means / len(words)).astype(np.float32)
    squares = np.empty((len(words.layers), len(words)))
    for rows, block in words.blocks():
        for place, layer in enumerate(words.layers):
            squares[place, rows] = np.square(block.at(layer) - means[place], dtype=np.float64).sum(axis=1)
        yield 0.5 + 0.5 * rows.start / len(words)
    return _Centred(words, means, squares)


def _products(here: _Centred, row: int, there: _Centred, columns: list[int]) -> list[float]:
    """|XᵀY|² of hidden state `row` of `here` with each of `columns` of `there`."""
    sums = torch.zeros(len(columns), here.words.width, there.words.width, dtype=torch.float64)
    for (_, mine), (_, yours) in zip(here.words.blocks(), there.words.blocks(), strict=True):
        first = here.at(mine, row).T
        for place, column in enumerate(columns):
            sums[place] += first @ there.at(yours, column)
    return sums.square().sum((1, 2)).tolist()
