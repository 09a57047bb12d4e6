"""The record of a training."""

from dataclasses import dataclass, field
from typing import Any

from explorer.finetune.compute.predictor import HeldOut, Predictor

CORRELATIONS = ("spearman", "pearson")  # measures from -1 to 1; the others, except the loss, are from 0 to 1


def write_measure(measure: str, value: float) -> str:
    """A measure with its name, formatted by its range."""
    if measure in CORRELATIONS:
        return f"{measure.capitalize()} correlation {value:.2f}"
    return f"{measure.replace('_', ' ').replace('f1', 'F1')} {value:.1%}"


@dataclass(frozen=True, eq=False)
class Run:
    """One training: the predictor, how it was trained, and how it went."""

    predictor: Predictor
    title: str
    settings: dict[str, Any]
    history: list[dict[str, float]]  # one entry per epoch
    best: int  # index of the epoch that was kept, in the history
    held_out: HeldOut | None = None  # None for an uploaded run
    baselines: dict[str, float] = field(default_factory=dict)  # scores of simple methods on the held-out examples, by name
    id: str = ""
    created: float = 0.0  # seconds since 1970

    @property
    def kind(self) -> str:
        return self.predictor.kind

    @property
    def measure(self) -> str:
        """The name of the measure that decides."""
        return self.predictor.measures[1]

    @property
    def score(self) -> float:
        """The deciding measure on the held-out examples, at the epoch that was kept; 0 without a history."""
        return self.history[self.best][f"held_out_{self.measure}"] if self.history else 0.0

    def as_json(self) -> dict[str, Any]:
        """All fields except arrays and weights."""
        about = {name: getattr(self, name) for name in ("title", "settings", "history", "best", "baselines", "created", "kind")}
        for name in ("model", "layer", "pooling", "layers_trained"):
            about[name] = getattr(self.predictor, name)
        held = self.held_out and self.held_out.as_json()
        return {**about, "measure": self.measure, "labels": list(self.predictor.labels), "held_out": held}
