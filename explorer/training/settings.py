"""The settings of a training, and the measures of its epochs. Nothing here imports torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from explorer.training.examples import HELD_OUT_SHARE

OPTIMIZERS = ("adam", "lbfgs")
FEWEST_HELD_OUT = 20  # held-out examples below which no epoch is chosen by them; a head alone then uses leave-one-out
LEAST = {False: (10, 300), True: (4, 100)}  # minimum epochs and steps, of a head alone and with layers
FEW_REGULARIZATION = 0.01  # measured on the ten topics of tests/topics.py: more often right, and confident where it is


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training. The defaults of the first four are those of the tutorials."""

    epochs: int = 10  # 0: as many as the number of examples calls for, see `fill_in`
    learning_rate: float = 0.01
    batch_size: int = 32
    seed: int = 0
    optimizer: str = "adam"  # or "lbfgs": logistic or ridge regression, solved directly
    regularization: float = 1.0  # for "lbfgs": half the squared length of the weights times this is added to the loss
    held_out: float = HELD_OUT_SHARE  # share of each label that is not trained on; 0: leave-one-out

    def fill_in(self, examples: int, layers_trained: int) -> Self:
        """These settings with the number of epochs filled in, where it is 0, to give enough steps for so many examples.

        A head alone is trained for at least 300 steps and 10 epochs, with layers for 100 steps and 4 epochs, as in Devlin et al.
        2019, appendix A.3.
        """
        if self.epochs:
            return self
        epochs, steps = LEAST[bool(layers_trained)]
        batches = -(-round(examples * (1 - self.held_out)) // self.batch_size)
        return replace(self, epochs=max(epochs, -(-steps // max(1, batches))))

    @property
    def reports(self) -> int:
        """The number of epochs that are reported: one for what is solved directly or judged by leave-one-out."""
        return self.epochs if self.held_out and self.optimizer != "lbfgs" else 1

    def for_few(self) -> Self:
        """These settings for few examples: solved directly, and judged by leave-one-out."""
        if self.optimizer == "lbfgs":
            return replace(self, held_out=0.0)
        return replace(self, held_out=0.0, optimizer="lbfgs", regularization=FEW_REGULARIZATION)


@dataclass(frozen=True)
class Epoch:
    """The measures after one pass over the examples, by name, on the training part and on the held-out part.

    "loss" is a mean over the examples (cross-entropies in nats), correlations are -1 to 1, the rest is 0 to 1.
    """

    epoch: int
    trained: Mapping[str, float]
    held_out: Mapping[str, float]
    scores: np.ndarray | None = field(default=None, compare=False)
    """[held out, outputs] of the head, where layers are trained; after them those of few texts that are trained on."""

    def as_row(self) -> dict[str, float]:
        """One flat row: epoch, train_loss, ..., held_out_loss, ..."""
        parts = (("train", self.trained), ("held_out", self.held_out))
        return {"epoch": self.epoch, **{f"{part}_{name}": number for part, found in parts for name, number in found.items()}}
