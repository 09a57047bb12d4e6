"""Probing: a linear head on every hidden state, from one pass of the model."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from explorer.base.engine import torch
from explorer.base.limits import TEXTS
from explorer.base.steps import map_steps
from explorer.model.explorer import Explorer
from explorer.model.features import layer_features_in_steps
from explorer.text import limits
from explorer.text.pairs import Pair
from explorer.training.examples import Examples, Split, split
from explorer.training.head import Head, Scale
from explorer.training.objectives import solve
from explorer.training.settings import TrainingSettings

PROBE_POOLINGS = ("cls", "mean")  # the pooler reads the last layer only


@dataclass(frozen=True)
class LayerProbe:
    """One hidden state's held-out accuracy: its mean and standard deviation over the seeds, and the mean of the control task."""

    layer: int  # 0 is the embedding output
    accuracy: float
    deviation: float
    control_accuracy: float


def probe(model: Explorer, examples: Examples, pooling: str, seeds: int) -> Generator[tuple[float, str], None, list[LayerProbe]]:
    """Logistic regression (L-BFGS) on every hidden state, `seeds` times with another split; yields the share done and a sentence.

    In the control task every different text gets a random one of the labels (Hewitt & Liang 2019). A probe that only uses what
    the layer contains stays near chance there; accuracy minus control is its selectivity.
    """
    limits.check_choice(pooling, "pooling", PROBE_POOLINGS)
    examples = examples.drawn(TEXTS.most)
    splits = [split(examples, seed) for seed in range(seeds)]
    doing = f"Reading {len(examples):,} examples, all layers in one pass."
    reading = layer_features_in_steps(model, examples.pairs, pooling)
    vectors = yield from map_steps(reading, lambda share: (0.5 * share, doing))
    found, settings = [], TrainingSettings()
    for layer, states in enumerate(vectors):
        scores, controls = [], []
        for seed, parts in enumerate(splits):
            scores.append(held_out_accuracy(states, examples.targets, parts, len(examples.classes), settings))
            controls.append(held_out_accuracy(states, control_targets(examples, seed), parts, len(examples.classes), settings))
            share = (layer * seeds + seed + 1) / (len(vectors) * seeds)
            yield 0.5 + 0.5 * share, f"Hidden state {layer} of {len(vectors) - 1}, seed {seed + 1} of {seeds}."
        found.append(LayerProbe(layer, float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))))
    return found


def control_targets(examples: Examples, seed: int) -> np.ndarray:
    """[examples] shuffled labels: equal texts get the same one."""
    rng = np.random.default_rng(seed)
    drawn: dict[Pair, int] = {}
    shuffled = rng.permutation(examples.targets)
    return np.array([drawn.setdefault(pair, int(target)) for pair, target in zip(examples.pairs, shuffled, strict=True)])


def held_out_accuracy(vectors: np.ndarray, targets: np.ndarray, parts: Split, labels: int, settings: TrainingSettings) -> float:
    """Held-out accuracy, 0 to 1, of a logistic regression of targets [rows] on vectors [rows, hidden]."""
    head = fitted_head(vectors[parts.train], targets[parts.train], labels, settings)
    best = head.outputs(vectors[parts.held_out]).argmax(-1)
    return float((best == targets[parts.held_out]).mean())


def fitted_head(vectors: np.ndarray, targets: np.ndarray, labels: int, settings: TrainingSettings) -> Head:
    """A logistic regression (L-BFGS) of targets [rows] on vectors [rows, hidden], trained on all rows."""
    inputs = torch.from_numpy(vectors)
    scale = Scale.of(inputs)
    weight, bias = solve(scale.apply(inputs).numpy(), targets, labels, settings)
    return Head(*scale.fold(torch.from_numpy(weight), torch.from_numpy(bias)))
