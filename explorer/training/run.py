"""What is kept of a training. Nothing here imports torch."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from explorer.training.classifier import Classifier


@dataclass(frozen=True)
class HeldOut:
    """The examples that were not trained on, and what the classifier said of them."""

    texts: tuple[str, ...]
    texts_b: tuple[str, ...]  # '' where there is none
    targets: np.ndarray  # [examples] int64, places among the labels
    probabilities: np.ndarray  # [examples, labels]
    points: np.ndarray  # [examples, 2]: the vectors that the head reads, on their first two principal components


@dataclass(frozen=True, eq=False)
class Run:
    """One training: the classifier, how it was trained, and how it went."""

    classifier: "Classifier"
    title: str
    settings: dict[str, Any]
    history: list[dict[str, float]]  # one entry an epoch
    best: int  # index in the history of the epoch that was kept
    held_out: HeldOut | None = None  # none when it came in a file
    baselines: dict[str, float] = field(default_factory=dict)  # accuracy on the held-out examples, by name
    id: str = ""
    created: float = 0.0  # seconds since 1970

    @property
    def accuracy(self) -> float:
        """Of the epoch that was kept, on the held-out examples: 0 to 1."""
        return self.history[self.best]["held_out_accuracy"] if self.history else 0.0

    def as_json(self) -> dict[str, Any]:
        """Everything but the arrays."""
        about = {name: getattr(self, name) for name in ("title", "settings", "history", "best", "baselines", "created")}
        for name in ("model", "layer", "pooling", "layers_trained"):
            about[name] = getattr(self.classifier, name)
        held = self.held_out
        texts = held and {"texts": held.texts, "texts_b": held.texts_b, "targets": held.targets.tolist()}
        return {**about, "labels": list(self.classifier.labels), "held_out": texts}
