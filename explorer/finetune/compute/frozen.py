"""Training a head on fixed vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from explorer.core.engine import torch
from explorer.training.examples import Split
from explorer.training.head import Head, Scale, as_head, new_module
from explorer.training.objectives import Objective, Solvable
from explorer.training.settings import Epoch, Patience, TrainingSettings


def train(vectors: np.ndarray, objective: Solvable, split: Split, settings: TrainingSettings) -> Iterator[tuple[Epoch, Head]]:
    """Train a head on features [rows, hidden], deterministically; yields the measures and the head after every epoch."""
    inputs = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
    trained, held_out = torch.from_numpy(split.train), torch.from_numpy(split.held_out)
    scale = Scale.of(inputs[trained])
    inputs = scale.apply(inputs)

    def report(epoch: int, scores: torch.Tensor) -> Epoch:
        return Epoch(epoch, *(objective.measure(scores[rows], rows) for rows in (trained, held_out)))

    if settings.optimizer == "lbfgs":
        weight, bias = map(torch.from_numpy, objective.solve(inputs[trained].numpy(), split.train, settings))
        yield report(1, torch.nn.functional.linear(inputs, weight, bias)), objective.rescale(Head(*scale.fold(weight, bias)))
        return
    patience = Patience(settings.patience)
    for epoch, module in enumerate(_adam(inputs, objective, trained, settings), start=1):
        with torch.inference_mode():
            found = report(epoch, module(inputs))
        yield found, objective.rescale(as_head(module, scale))
        if patience.is_over(found.held_out["loss"]):
            return


def _adam(
    inputs: torch.Tensor, objective: Objective, rows: torch.Tensor, settings: TrainingSettings
) -> Iterator[torch.nn.Sequential]:
    """The head in training, after every epoch of Adam (Kingma & Ba 2015): the same module each time."""
    generator = torch.Generator().manual_seed(settings.seed)
    module = new_module(inputs.shape[1], objective.outputs, settings, generator)
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.learning_rate)
    for _ in range(settings.epochs):
        for batch in rows[torch.randperm(len(rows), generator=generator)].split(settings.batch_size):
            optimizer.zero_grad()
            objective.loss(module(inputs[batch]), batch).backward()
            optimizer.step()
        yield module
