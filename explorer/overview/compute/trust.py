"""How far routes can be trusted on one input: mask each piece in turn, and compare the effect on the guess with its share."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from explorer.bert.trace import Trace
from explorer.core.engine import inference_mode
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.techniques.ablation import readings_without
from explorer.techniques.routes import place_shares
from explorer.techniques.run_mixing import mixing
from explorer.techniques.targets import Target, read_at

FEWEST = 3  # pieces; the ranks of two are either equal or not


@dataclass(frozen=True, eq=False)
class Trust:
    """The routes' shares of each piece, and the effects of masking it.

    `places` are the tokens that were masked, zero-based: the pieces of the texts except blanks and the target's own. For each,
    `shares` (0 to 1) is how much of the target's place comes from it in hidden state 0, and `losses` (-1 to 1) and `logit_losses`
    are what the target's probability and logit lose when it is [MASK]: [places] float32 each.
    """

    places: tuple[int, ...]
    shares: np.ndarray
    losses: np.ndarray
    logit_losses: np.ndarray

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of shares and losses of probability, -1 to 1; 0 if either is constant."""
        return rank_correlation(self.shares, self.losses)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's rank correlation, -1 to 1; 0 if either array is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(scipy.stats.spearmanr(one, other).statistic)


@inference_mode
def trust(trace: Trace, target: Target) -> Generator[float, None, Trust]:
    """Mask every visible piece except the target's own; yields the share done, 0 to 1.

    Raises InputError when there are fewer than FEWEST pieces.
    """
    model, position = trace.model, target.position
    places = [place for place in model.visible_positions(trace.encoding) if place != position]
    if len(places) < FEWEST:
        raise InputError(f"There are only {len(places)} words to hide; type a longer sentence.")
    shares = place_shares(mixing(trace).shares, position)[0, places]
    whole = read_at(model, target, trace.states[-1][[position]])
    losses = np.empty((2, len(places)), dtype=np.float32)
    for batch, without in readings_without(trace, target, [[place] for place in places]):
        losses[0, batch] = (whole.probability - without.probability).numpy()
        losses[1, batch] = (whole.logit - without.logit).numpy()
        yield batch.stop / len(places)
    return Trust(tuple(places), shares, *losses)
