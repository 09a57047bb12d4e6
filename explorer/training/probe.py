"""Probing: a linear head on every hidden state, for labels of texts, from one pass of the model."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from explorer.analysis.resampling import wilson
from explorer.bert.explorer import Explorer
from explorer.bert.features import layer_features_in_steps
from explorer.core.engine import torch
from explorer.core.limits import TEXTS
from explorer.core.steps import map_steps
from explorer.text import limits
from explorer.training.examples import Examples, Split, normalise
from explorer.training.head import Classes, Head, Scale
from explorer.training.settings import TrainingSettings

POOLINGS = ("cls", "mean")  # the pooler reads the last layer only

Steps = Generator[tuple[float, str], None, list["LayerProbe"]]
"""Yields the share done, 0 to 1, and a sentence."""


class LayerProbe(NamedTuple):
    """One hidden state's held-out accuracy: its mean and standard deviation over the splits, and the mean of the control.

    `low` to `high` is the 95% interval of the accuracy over sentences; `sentences` different ones were held out in some split.
    """

    layer: int  # 0 is the embedding output
    accuracy: float
    deviation: float
    control_accuracy: float
    low: float
    high: float
    sentences: int


def probe(model: Explorer, examples: Examples, pooling: str, seeds: int) -> Steps:
    """Logistic regression (L-BFGS) of the labels on every hidden state, `seeds` times with another split.

    The control is the same with the labels shuffled, equal for equal texts: what a probe reaches by chance with these labels and
    splits. It is not a control task of Hewitt & Liang 2019, nor is the difference a selectivity. These need inputs that recur,
    such as words, whose random labels a probe could learn by heart, and held-out texts never occur in training. The interval is
    Wilson's (1927) over the different texts that were held out, each counted by how often it was right.
    """
    limits.check_choice(pooling, "pooling", POOLINGS)
    examples = examples.draw(TEXTS.most)
    splits = [examples.split(seed) for seed in range(seeds)]
    doing = f"Reading {len(examples):,} examples, all layers in one pass."
    reading = layer_features_in_steps(model, examples.pairs, pooling)
    vectors = yield from map_steps(reading, lambda share: (0.5 * share, doing))
    texts = np.array(["\n".join(map(normalise, pair)) for pair in examples.pairs], dtype=object)
    _, text = np.unique(texts[np.concatenate([parts.held_out for parts in splits])], return_inverse=True)
    times = np.bincount(text)  # that each text was held out
    targets = examples.targets
    tasks = [(parts, targets, control_targets(examples.pairs, targets, seed)) for seed, parts in enumerate(splits)]
    found = []
    for layer, states in enumerate(vectors):
        right, controls = [], []
        for done, (parts, own, control) in enumerate(tasks, start=1):
            right.append(_held_out_right(states, own, parts, len(examples.classes)))
            controls.append(_held_out_right(states, control, parts, len(examples.classes)).mean())
            share = (layer + done / len(tasks)) / len(vectors)
            yield 0.5 + 0.5 * share, f"Hidden state {layer} of {len(vectors) - 1}, seed {done} of {seeds}."
        scores, shares = [hits.mean() for hits in right], np.bincount(text, np.concatenate(right)) / times
        summed = float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))
        found.append(LayerProbe(layer, *summed, *wilson(float(shares.sum()), len(shares)), len(shares)))
    return found


def control_targets(names: Sequence[Hashable], targets: np.ndarray, seed: int) -> np.ndarray:
    """[rows] shuffled targets: rows with equal names, such as texts or word types, get the same one."""
    drawn: dict[Hashable, int] = {}
    shuffled = np.random.default_rng(seed).permutation(targets)
    return np.array([drawn.setdefault(name, int(target)) for name, target in zip(names, shuffled, strict=True)])


def draw_rows(lengths: Sequence[int], most: int) -> np.ndarray:
    """Indices of a fixed sample of sentences, given their numbers of words, with at most `most` words; two sentences at least."""
    if sum(lengths) <= most:
        return np.arange(len(lengths))
    order = np.random.default_rng(0).permutation(len(lengths))
    words = np.cumsum(np.array(lengths)[order])
    return np.sort(order[: max(2, int((words <= most).sum()))])


def fit_head(vectors: np.ndarray, targets: np.ndarray, labels: int, settings: TrainingSettings) -> Head:
    """A logistic regression (L-BFGS) of targets [rows] on vectors [rows, hidden], trained on all rows."""
    inputs = torch.from_numpy(vectors)
    scale = Scale.of(inputs)
    weight, bias = Classes(targets, labels).solve(scale.apply(inputs).numpy(), np.arange(len(targets)), settings)
    return scale.fold(torch.from_numpy(weight), torch.from_numpy(bias))


def _held_out_right(vectors: np.ndarray, targets: np.ndarray, parts: Split, labels: int) -> np.ndarray:
    """[held out] bool: which rows a logistic regression on the other rows classifies correctly."""
    head = fit_head(vectors[parts.train], targets[parts.train], labels, TrainingSettings())
    return head.outputs(vectors[parts.held_out]).argmax(-1) == targets[parts.held_out]
