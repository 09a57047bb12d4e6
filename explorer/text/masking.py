"""Masking for the masked LM: which pieces BERT has to predict, and what it sees instead (Devlin et al. 2019, section 3.1).

Of every input 15% of the pieces are *chosen*. A chosen piece becomes [MASK] (80%), or another word (10%), or stays
as it is (10%), because [MASK] never occurs in real text; the model has to name the original piece at all of them.
"""

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
    """An input after masking, [tokens] each."""

    input_ids: Ints  # what the model reads
    labels: Ints  # the original id at chosen places, IGNORED elsewhere
    treatment: Ints  # one of UNTOUCHED, MASKED, RANDOM, KEPT


def choose_pieces(eligible: Bools, rate: float, rng: np.random.Generator) -> Bools:
    """[tokens] single pieces chosen uniformly: `rate` (0 to 1) of the eligible ones, rounded, at least one (BERT's rule)."""
    lots = np.where(eligible, rng.random(len(eligible)), 2.0)  # 2 is above every random number, so it is never among the first
    chosen = np.zeros_like(eligible)
    chosen[lots.argsort()[: max(1, round(rate * eligible.sum()))]] = True
    return chosen


def treat_pieces(
    ids: Ints, chosen: Bools, shares: tuple[float, float], mask_id: int, random_ids: Ints, rng: np.random.Generator
) -> MaskedPieces:
    """Replace the chosen pieces: each independently masked or random with the given `shares`, else kept.

    Random pieces are drawn from `random_ids` [n]; the original may be drawn too, as in BERT.
    """
    lot = rng.random(len(ids))
    treatment = np.select([~chosen, lot < shares[0], lot < sum(shares)], [UNTOUCHED, MASKED, RANDOM], KEPT)
    others = rng.choice(random_ids, size=len(ids))
    read = np.select([treatment == MASKED, treatment == RANDOM], [mask_id, others], ids)
    return MaskedPieces(read, np.where(chosen, ids, IGNORED), treatment)
