"""Masking for the masked LM: which pieces BERT has to predict, and what it sees instead (Devlin et al. 2019, section 3.1).

Of every input 15% of the pieces are *chosen*. A chosen piece becomes [MASK] (80%), or another word (10%), or stays
as it is (10%), because [MASK] never occurs in real text; the model has to name the original piece at all of them.
A *chooser* selects the places, `treat_pieces` replaces the pieces there. Plain NumPy, so that pre-training and the page share it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]

IGNORED: Final = -100
"""The label of a position without a loss; the value that PyTorch's cross-entropy and transformers ignore."""

UNTOUCHED, MASKED, RANDOM, KEPT = range(4)
"""The codes in `MaskedPieces.treatment`; the last three mark the chosen places."""


@dataclass(frozen=True)
class MaskedPieces:
    """A batch after masking, [batch, tokens] each."""

    input_ids: Ints  # what the model reads
    labels: Ints  # the original id at chosen places, IGNORED elsewhere
    treatment: NDArray[np.int8]  # one of UNTOUCHED, MASKED, RANDOM, KEPT


def choose_pieces(eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
    """Choose single pieces uniformly: `rate` (0 to 1) of the eligible ones of each row, rounded, at least one (BERT's rule)."""
    counts = eligible.sum(axis=1)  # [batch]
    wanted = np.maximum(counts > 0, np.rint(rate * counts))  # [batch]
    lots = np.where(eligible, rng.random(eligible.shape), 2.0)  # 2 is above every random number, so it is never among the first
    rank = lots.argsort(axis=1).argsort(axis=1)  # [batch, tokens] 0 for the smallest random number of the row
    return rank < wanted[:, None]


def treat_pieces(
    input_ids: Ints,
    chosen: Bools,
    *,
    mask_id: int,
    random_ids: Ints,
    rng: np.random.Generator,
    shares: tuple[float, float, float],
) -> MaskedPieces:
    """Replace the chosen pieces: each independently masked, random or kept with the given `shares` (they sum to 1).

    `random_ids` [n] are the ids from which random pieces are drawn (see `ordinary_ids`); the original may be drawn too, as in
    BERT.
    """
    lot = rng.random(input_ids.shape)  # [batch, tokens]
    treatment = np.select([lot < shares[0], lot < shares[0] + shares[1]], [MASKED, RANDOM], KEPT)
    treatment = np.where(chosen, treatment, UNTOUCHED).astype(np.int8)
    strangers = rng.choice(random_ids, size=input_ids.shape)  # [batch, tokens]
    return MaskedPieces(
        input_ids=np.select([treatment == MASKED, treatment == RANDOM], [mask_id, strangers], input_ids),
        labels=np.where(chosen, input_ids, IGNORED),
        treatment=treatment,
    )


def ordinary_ids(tokens: Sequence[str], special_ids: Collection[int]) -> NDArray[np.int64]:
    """The ids from which random pieces are drawn: all but the special tokens and BERT's reserved '[unused42]' entries.

    `tokens` is the vocabulary in order of id. BERT drew from everything; but a piece that no text contains is too easily
    recognized.
    """
    banned = set(special_ids)
    return np.array([i for i, token in enumerate(tokens) if i not in banned and not token.startswith("[unused")])
