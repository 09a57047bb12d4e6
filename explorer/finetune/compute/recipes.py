"""Grids of settings that papers searched, and similar ones for small models and heads. Nothing here imports torch."""

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Settings to try in every combination, and their source."""

    batch_sizes: tuple[int, ...]
    rates: tuple[float, ...]
    epochs: tuple[int, ...]
    layers: bool  # whether they are for training layers; otherwise for the head alone
    source: str

    def settings(self) -> list[tuple[int, float, int]]:
        """Batch size, learning rate and epochs of every combination; those with the fewest epochs come first."""
        return [(batch, rate, number) for number, batch, rate in itertools.product(self.epochs, self.batch_sizes, self.rates)]


PAPER = Grid((16, 32), (5e-5, 3e-5, 2e-5), (2, 3, 4), True, "Devlin et al. 2019, appendix A.3; warm-up over 10 % of the steps")
SMALL = Grid((16, 32), (2e-4, 1e-4, 5e-5), (2, 4), True, "rates as Turc et al. 2019 took them for small models")
HEAD = Grid((16, 32, 64), (0.03, 0.01, 0.003), (5, 10), False, "rates around that of the tutorials")
GRIDS = {"the paper's": PAPER, "for a small model": SMALL, "the head only": HEAD}
