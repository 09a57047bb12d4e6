"""Probing: a linear head on every hidden state, from one pass of the model."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.resampling import wilson
from explorer.bert.explorer import Explorer
from explorer.bert.features import layer_features_in_steps
from explorer.core.engine import torch
from explorer.core.limits import TEXTS
from explorer.core.steps import map_steps
from explorer.text import limits
from explorer.text.pairs import Pair
from explorer.training.examples import Examples, Split, group_rows, normalise, split
from explorer.training.head import Head, Scale
from explorer.training.objectives import solve
from explorer.training.settings import TrainingSettings

PROBE_POOLINGS = ("cls", "mean")  # the pooler reads the last layer only


@dataclass(frozen=True)
class LayerProbe:
    """One hidden state's held-out accuracy: its mean and standard deviation over the splits, and the mean of the control.

    `low` to `high` is the 95 % interval of the accuracy over sentences; `sentences` different ones were held out in some split.
    """

    layer: int  # 0 is the embedding output
    accuracy: float
    deviation: float
    control_accuracy: float
    low: float
    high: float
    sentences: int


def probe(model: Explorer, examples: Examples, pooling: str, seeds: int) -> Generator[tuple[float, str], None, list[LayerProbe]]:
    """Logistic regression (L-BFGS) on every hidden state, `seeds` times with another split; yields the share done and a sentence.

    The control is the same with the labels shuffled, equal texts alike: what a probe reaches by chance with these labels and
    splits. It is no control task of Hewitt & Liang 2019, and the difference no selectivity: these need inputs that recur, such as
    words, whose random labels a probe could learn by heart, and held-out texts never occur in training. The interval is Wilson's
    (1927) over the different texts that were held out, each counted by how often it was right.
    """
    limits.check_choice(pooling, "pooling", PROBE_POOLINGS)
    examples = examples.drawn(TEXTS.most)
    splits = [split(examples, seed) for seed in range(seeds)]
    doing = f"Reading {len(examples):,} examples, all layers in one pass."
    reading = layer_features_in_steps(model, examples.pairs, pooling)
    vectors = yield from map_steps(reading, lambda share: (0.5 * share, doing))
    texts = np.array([group for _, group in sorted((row, at) for at, rows in enumerate(_same(examples)) for row in rows)])
    found, settings = [], TrainingSettings()
    for layer, states in enumerate(vectors):
        right, controls = [], []
        for seed, parts in enumerate(splits):
            right.append(held_out_right(states, examples.targets, parts, len(examples.classes), settings))
            control = held_out_right(states, control_targets(examples, seed), parts, len(examples.classes), settings)
            controls.append(control.mean())
            share = (layer * seeds + seed + 1) / (len(vectors) * seeds)
            yield 0.5 + 0.5 * share, f"Hidden state {layer} of {len(vectors) - 1}, seed {seed + 1} of {seeds}."
        scores = [hits.mean() for hits in right]
        summed = float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))
        found.append(LayerProbe(layer, *summed, *_over_texts(right, [texts[parts.held_out] for parts in splits])))
    return found


def _same(examples: Examples) -> list[list[int]]:
    return group_rows(tuple(map(normalise, pair)) for pair in examples.pairs)


def _over_texts(right: Sequence[np.ndarray], texts: Sequence[np.ndarray]) -> tuple[float, float, int]:
    """The ends of an interval over different texts, and their number; for each split, what was right, and of which text."""
    every, which = np.concatenate(right), np.unique(np.concatenate(texts), return_inverse=True)[1]
    shares = np.bincount(which, every) / np.bincount(which)
    return *wilson(float(shares.sum()), len(shares)), len(shares)


def control_targets(examples: Examples, seed: int) -> np.ndarray:
    """[examples] shuffled labels: equal texts get the same one."""
    rng = np.random.default_rng(seed)
    drawn: dict[Pair, int] = {}
    shuffled = rng.permutation(examples.targets)
    return np.array([drawn.setdefault(pair, int(target)) for pair, target in zip(examples.pairs, shuffled, strict=True)])


def held_out_right(vectors: np.ndarray, targets: np.ndarray, parts: Split, labels: int, settings: TrainingSettings) -> np.ndarray:
    """[held out] bool: which rows a logistic regression of targets [rows] on vectors [rows, hidden] tells right."""
    head = fitted_head(vectors[parts.train], targets[parts.train], labels, settings)
    best = head.outputs(vectors[parts.held_out]).argmax(-1)
    return best == targets[parts.held_out]


def fitted_head(vectors: np.ndarray, targets: np.ndarray, labels: int, settings: TrainingSettings) -> Head:
    """A logistic regression (L-BFGS) of targets [rows] on vectors [rows, hidden], trained on all rows."""
    inputs = torch.from_numpy(vectors)
    scale = Scale.of(inputs)
    weight, bias = solve(scale.apply(inputs).numpy(), targets, labels, settings)
    return Head(*scale.fold(torch.from_numpy(weight), torch.from_numpy(bias)))
