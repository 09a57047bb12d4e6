"""Which layer knows it: a linear head on every hidden state, from one pass of the model."""

from collections.abc import Generator
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch

from explorer.model.explorer import Explorer
from explorer.text import limits
from explorer.training.examples import Examples, Pair, split
from explorer.training.head import Scale, Settings, solve
from explorer.training.prefix import encoded_batches, hidden_of, pooled, precision, through

PROBE_POOLINGS = ("cls", "mean")  # the pooler reads the last layer only
REGULARIZATION = 1.0


@dataclass(frozen=True)
class LayerProbe:
    """One hidden state: mean held-out accuracy over the seeds, its standard deviation, and that of the control task."""

    layer: int  # 0 the embedding output
    accuracy: float
    deviation: float
    control_accuracy: float

    def as_row(self) -> dict[str, float]:
        """The numbers by name."""
        return asdict(self)


def probe(
    model: Explorer, examples: Examples, pooling: str, seeds: int
) -> Generator[tuple[float, str], None, list[LayerProbe]]:
    """Logistic regression (L-BFGS) on every hidden state, `seeds` times with another split; yields how far it is.

    In the control task every different text gets a label drawn from all of them (Hewitt & Liang 2019): a probe that
    finds nothing but what the layer says stays near chance there, and accuracy minus control is its selectivity.
    """
    limits.check_choice(pooling, "pooling", PROBE_POOLINGS)
    splits = [split(examples, seed) for seed in range(seeds)]
    reading = every_layer(model, examples.pairs, pooling)
    while True:
        try:
            yield 0.5 * next(reading), f"Reading {len(examples):,} examples, all layers in one pass."
        except StopIteration as done:
            vectors = done.value
            break
    found = []
    for layer, states in enumerate(vectors):
        scores, controls = [], []
        for seed, parts in enumerate(splits):
            scores.append(_score(states, examples.targets, parts, len(examples.classes), seed))
            controls.append(_score(states, control_targets(examples, seed), parts, len(examples.classes), seed))
            share = (layer * seeds + seed + 1) / (len(vectors) * seeds)
            yield 0.5 + 0.5 * share, f"Hidden state {layer} of {len(vectors) - 1}, seed {seed + 1} of {seeds}."
        found.append(LayerProbe(layer, float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))))
    return found


def every_layer(model: Explorer, pairs: list[Pair], pooling: str) -> Generator[float, None, np.ndarray]:
    """[hidden states, texts, hidden] float32: the pooled vectors of all layers; yields the share done."""
    can = model.capabilities
    vectors = np.empty((can.layers + 1, len(pairs), can.hidden_size), dtype=np.float32)
    done = 0
    for batch in encoded_batches(model, pairs):
        with torch.no_grad(), precision():
            hidden, real = hidden_of(model, batch, 0)
            vectors[0][batch.rows] = pooled(hidden.float(), real, pooling).numpy()
            for layer in range(can.layers):
                hidden = through(model.layers[layer : layer + 1], hidden, real)
                vectors[layer + 1][batch.rows] = pooled(hidden.float(), real, pooling).numpy()
        done += len(batch.rows)
        yield done / len(pairs)
    return vectors


def control_targets(examples: Examples, seed: int) -> np.ndarray:
    """[examples] labels shuffled by sentence: equal texts get the same label, and each label is as frequent as before."""
    rng = np.random.default_rng(seed)
    drawn: dict[Pair, int] = {}
    shuffled = rng.permutation(examples.targets)
    return np.array(
        [drawn.setdefault(pair, int(target)) for pair, target in zip(examples.pairs, shuffled, strict=True)]
    )


def _score(
    vectors: np.ndarray, targets: np.ndarray, parts: tuple[np.ndarray, np.ndarray], labels: int, seed: int
) -> float:
    """Held-out accuracy of a logistic regression on vectors [texts, hidden]."""
    train_rows, held_rows = parts
    scale = Scale.of(torch.from_numpy(vectors[train_rows]))
    inputs = scale.apply(torch.from_numpy(vectors)).numpy()
    settings = replace(Settings(seed=seed), regularization=REGULARIZATION)
    weight, bias = solve(inputs[train_rows], targets[train_rows], labels, settings)
    return float(((inputs[held_rows] @ weight.T + bias).argmax(-1) == targets[held_rows]).mean())
