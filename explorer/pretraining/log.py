"""The log of a run: a CSV line every few steps, and one for every held-out score."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from explorer.core.engine import torch
from explorer.pretraining.saving import Progress
from explorer.pretraining.scoring import Scores

FIELDS = (
    "step",
    "pieces",  # read so far, padding not counted
    "seconds",  # of training so far, over all legs
    "learning_rate",
    "mlm_loss",  # nats, mean since the previous line
    "nsp_loss",  # nats, mean since the previous line over the batches with a text B
    "teacher_distance",  # 0..1, mean since the previous line over the batches of single sentences; empty without a teacher
    "heldout_top1",  # shares 0..1; empty on lines without a held-out score
    "heldout_top5",
    "heldout_mlm_loss",
    "heldout_nsp",
)


class Log:
    """Collects losses and writes their means; when a run is resumed, lines written after its checkpoint are dropped."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        self.losses: dict[str, list[torch.Tensor]] = {name: [] for name in ("mlm_loss", "nsp_loss", "teacher_distance")}
        lines: list[dict[str, str]] = []
        if path.exists():
            with path.open(newline="") as file:
                lines = [line for line in csv.DictReader(file) if int(line["step"]) <= step]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(lines)

    def add(self, losses: Sequence[torch.Tensor | None]) -> None:
        """Keep the losses of one step, as `Trainer.step` returns them."""
        for kept, loss in zip(self.losses.values(), losses, strict=True):
            kept += [] if loss is None else [loss]

    def write(self, progress: Progress, rate: float, scores: Scores | None = None) -> None:
        """Write a line with the means since the previous one, and the held-out scores if given."""
        line: dict[str, object] = {
            "step": progress.step,
            "pieces": progress.pieces,
            "seconds": round(progress.seconds, 1),
            "learning_rate": f"{rate:.3g}",
            **{name: round(torch.stack(kept).mean().item(), 4) for name, kept in self.losses.items() if kept},
        }
        if scores is not None:
            line |= {
                "heldout_top1": round(scores.top1, 4),
                "heldout_top5": round(scores.top5, 4),
                "heldout_mlm_loss": round(scores.loss, 4),
                "heldout_nsp": "" if scores.next_accuracy is None else round(scores.next_accuracy, 4),
            }
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, FIELDS, restval="").writerow(line)
        for kept in self.losses.values():
            kept.clear()
