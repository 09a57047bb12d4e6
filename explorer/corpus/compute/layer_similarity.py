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

    It is the unbiased estimator, see `cka_of_products`. Both may be the same object. Yields the share done. Raises InputError for
    fewer than 4 words.
    """
    if len(here) < FEWEST:
        raise InputError(f"Comparing layers needs {FEWEST} words or more. Take more sentences.")
    same, products = here is there, np.zeros((len(here.layers), len(there.layers)))
    mine = yield from map_steps(_centre(here), lambda share: CENTRING * share)
    yours = mine if same else (yield from map_steps(_centre(there), lambda _: CENTRING))
    for done, (row, column) in enumerate(np.ndindex(*products.shape)):
        yield CENTRING + (1 - CENTRING) * done / products.size
        known = same and column < row
        products[row, column] = products[column, row] if known else _product(mine, row, yours, column)
    if same:
        own = [np.diag(products)] * 2
    else:
        own = [np.array([_product(side, row, side, row) for row in range(len(side.means))]) for side in (mine, yours)]
    return cka_of_products(products, own, (mine.squares, yours.squares))


def _centre(words: WordStates) -> Generator[float, None, _Centred]:
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


def _product(here: _Centred, row: int, there: _Centred, column: int) -> float:
    """|XᵀY|² of hidden state `row` of `here` with hidden state `column` of `there`; their products are in memory at a time."""
    summed = torch.zeros(here.words.width, there.words.width, dtype=torch.float64)
    for (_, mine), (_, yours) in zip(here.words.blocks(), there.words.blocks(), strict=True):
        summed += here.at(mine, row).T @ there.at(yours, column)
    return float(summed.square().sum())
