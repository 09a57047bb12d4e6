"""How to train, and how it goes. Nothing here imports torch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from explorer.training.examples import HELD_OUT_SHARE

OPTIMIZERS = ("adam", "lbfgs")
FEWEST_HELD_OUT = 20  # examples: nothing is chosen on fewer, and where they are fewer each is left out in turn
LEAST = {False: (10, 300), True: (4, 100)}  # epochs and steps that a head alone, or layers too, are trained for at least
FEW_REGULARIZATION = 0.01  # measured on the ten topics of tests/topics.py: sure where it is right, and more often right


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. The defaults of the first four are the tutorials'."""

    epochs: int = 10  # 0: as many as the size of the data asks for, see `fitted`
    learning_rate: float = 0.01
    batch_size: int = 32
    seed: int = 0
    optimizer: str = "adam"  # or "lbfgs": logistic or ridge regression, solved at once
    units: int = 0  # of a hidden layer in the head; 0 is a linear head
    balanced: bool = False  # rare labels weigh more: number of examples / (number of labels · examples of the label)
    regularization: float = 1.0  # of "lbfgs": half the squared length of the weights times this is added to the loss
    held_out: float = HELD_OUT_SHARE  # of each label, about: never trained on; 0: each is left out in turn
    averaged: int = 1  # trainings of layers whose weights are averaged; their seeds are one apart
    patience: int = 0  # stop when the held-out loss has not fallen for so many epochs; 0 never

    def fitted(self, examples: int, layers_trained: int) -> Self:
        """The same with as many epochs as make enough steps for so many examples, where that is left open (0).

        A head alone is trained for 300 steps at least, and for 10 epochs; with layers it is 100 steps and 4 epochs, as in
        Devlin et al. 2019, appendix A.3.
        """
        if self.epochs:
            return self
        epochs, steps = LEAST[bool(layers_trained)]
        batches = -(-round(examples * (1 - self.held_out)) // self.batch_size)
        return replace(self, epochs=max(epochs, -(-steps // max(1, batches))))

    @property
    def reports(self) -> int:
        """How many epochs there are to tell of: what is solved, or judged by leaving out, has one end."""
        return self.epochs if self.held_out and self.optimizer != "lbfgs" else 1

    def for_few(self) -> Self:
        """The same for a head that learns from few examples: it is solved where it can be, and each is left out in turn."""
        if self.units or self.optimizer == "lbfgs":
            return replace(self, held_out=0.0)
        return replace(self, held_out=0.0, optimizer="lbfgs", regularization=FEW_REGULARIZATION)


@dataclass(frozen=True)
class Epoch:
    """How it went after one pass over the examples: measures by their names, of what is trained on and what is held out.

    "loss" is a mean over the examples (cross-entropies in nats), correlations are -1 to 1, the rest is 0 to 1.
    """

    epoch: int
    trained: Mapping[str, float]
    held_out: Mapping[str, float]

    def as_row(self) -> dict[str, float]:
        """One flat row: epoch, train_loss, ..., held_out_loss, ..."""
        parts = (("train", self.trained), ("held_out", self.held_out))
        return {"epoch": self.epoch, **{f"{part}_{name}": number for part, found in parts for name, number in found.items()}}


@dataclass
class Patience:
    """Early stopping: the held-out loss may fail to fall `epochs` times in a row; 0 is for ever."""

    epochs: int
    lowest: float = float("inf")
    waited: int = 0

    def is_over(self, loss: float) -> bool:
        """Whether to stop, after another epoch with this held-out loss."""
        self.waited = 0 if loss < self.lowest else self.waited + 1
        self.lowest = min(self.lowest, loss)
        return 0 < self.epochs <= self.waited
