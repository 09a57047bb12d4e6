"""How to train, and how it goes. Nothing here imports torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.training.examples import HELD_OUT_SHARE

OPTIMIZERS = ("adam", "lbfgs")


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. The defaults of the first four are the tutorials'."""

    epochs: int = 10
    learning_rate: float = 0.01
    batch_size: int = 32
    seed: int = 0
    optimizer: str = "adam"  # or "lbfgs": logistic or ridge regression, solved at once
    units: int = 0  # of a hidden layer in the head; 0 is a linear head
    balanced: bool = False  # rare labels weigh more: number of examples / (number of labels · examples of the label)
    regularization: float = 1.0  # of "lbfgs": half the squared length of the weights times this is added to the loss
    held_out: float = HELD_OUT_SHARE  # of each label, about: never trained on
    patience: int = 0  # stop when the held-out loss has not fallen for so many epochs; 0 never


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
