"""Training a head, on fixed vectors or together with the top layers.

The layers are trained on a copy, over the hidden states that the frozen layers below computed once.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.core.engine import no_grad, torch
from explorer.finetune.compute.layers import EVERY_TOKEN, Prefix, Ragged, Top
from explorer.training.examples import Split
from explorer.training.head import Classes, Head, Objective, Scale, Solvable, new_module
from explorer.training.settings import Epoch, TrainingSettings

HEAD_RATE = 0.01  # minimum learning rate of the head, which starts from zero
WARM_UP = 0.1  # share of the steps
WEIGHT_DECAY = 0.01
MOST_GRADIENT = 1.0
AVERAGED = 3  # epochs averaged in the kept weights, about
FOLLOWED = 100  # texts up to which those that are trained on are scored after each epoch, too
MEASURED = 512  # texts from whose token vectors the scale is measured
PART = 16  # texts of similar length per forward pass: more than half of a random batch would be padding

Trained = tuple[Epoch, Head, Top | None]
"""The measures after an epoch, with the head and the layers below it, if some are trained."""

Learned = tuple["torch.Tensor", "torch.Tensor"]
"""The rows of a batch, and their scores [scored, outputs] before the step on them."""


def train(
    vectors: np.ndarray, objective: Solvable, split: Split, settings: TrainingSettings, begun: Head | None = None
) -> Iterator[Trained]:
    """Train a head on features [rows, hidden], deterministically; yields after every epoch.

    It is solved, or trained by Adam (Kingma & Ba 2015) from zero or from the head that was `begun`.
    """
    inputs = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
    trained, held_out = torch.from_numpy(split.train), torch.from_numpy(split.held_out)
    scale = Scale.of(inputs[trained])
    inputs = scale.apply(inputs)

    def report(epoch: int, scores: torch.Tensor) -> Epoch:
        return Epoch(epoch, objective.measure(scores[trained], trained), objective.measure(scores[held_out], held_out))

    if settings.optimizer == "lbfgs":
        weight, bias = map(torch.from_numpy, objective.solve(inputs[trained].numpy(), split.train, settings))
        head = objective.rescale(scale.fold(weight, bias))
        yield report(1, torch.nn.functional.linear(inputs, weight, bias)), head, None
        return
    generator = torch.Generator().manual_seed(settings.seed)
    module = new_module(scale, objective.outputs, begun)
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.learning_rate)
    for epoch in range(1, settings.epochs + 1):
        for batch in trained[torch.randperm(len(trained), generator=generator)].split(settings.batch_size):
            optimizer.zero_grad()
            objective.loss(module(inputs[batch]), batch).backward()
            optimizer.step()
        with torch.inference_mode():
            found = report(epoch, module(inputs))
        yield found, objective.rescale(scale.fold(module.weight, module.bias)), None


def most_layer_rate(hidden: int) -> float:
    """The highest learning rate for layers of this width: 5e-5 at BERT-base, as in the paper, more for smaller models.

    Devlin et al. 2019 train models 768 and 1024 wide at 2e-5 to 5e-5, Turc et al. 2019 small ones at up to 3e-4.
    """
    return min(3e-4, rate_at_width(5e-5, hidden))


def rate_at_width(rate: float, hidden: int) -> float:
    """A learning rate given for BERT-base, which is 768 wide, converted to a model of this width: rate · (768 / hidden)²."""
    return rate * (768 / hidden) ** 2


@dataclass(frozen=True)
class Progress:
    """The share of all work done, 0 to 1, what is being done, and the measures of an epoch that has just ended."""

    share: float
    doing: str
    epoch: Epoch | None = None

    @classmethod
    def of_step(cls, epoch: int, epochs: int, done: int, total: int, seconds: float) -> Progress:
        """Within an epoch: so many of its steps are done, and all so far took so many seconds."""
        so_far = (epoch - 1) * total + done
        speed = so_far / seconds
        left = duration((epochs * total - so_far) / speed)
        return cls(
            so_far / (epochs * total),
            f"Epoch {epoch} of {epochs}, step {done} of {total}: {speed:.1f} steps a second, {left} left.",
        )


def duration(seconds: float) -> str:
    """A rough duration: 'a moment', 'about 40 s', 'about 3 minutes'."""
    if seconds < 2:
        return "a moment"
    if seconds < 90:
        return f"about {round(seconds) if seconds < 10 else 10 * round(seconds / 10)} s"
    return f"about {round(seconds / 60)} minutes"


class Learner:
    """A head over copies of layers, which learn by AdamW with linear warm-up and decay (Devlin et al. 2019, appendix A.2)."""

    def __init__(
        self, top: Top, prefix: Prefix, objective: Objective, split: Split, settings: TrainingSettings, begun: Head | None = None
    ) -> None:
        """`split` is one of rows; `top` is changed. The head starts at zero, or as `begun`."""
        self.top, self.prefix, self.objective, self.batch_size = top, prefix, objective, settings.batch_size
        self.train_rows, self.held_rows = map(torch.from_numpy, split)
        few = type(objective) is Classes and prefix.words is None and len(prefix.example) <= FOLLOWED
        self.scored = [self.held_rows, *[self.train_rows] * few]
        self.steps = -(-len(self.train_rows) // settings.batch_size)  # of an epoch
        measured = self.train_rows[:MEASURED] if top.pooling == EVERY_TOKEN else self.train_rows
        self.scale = Scale.of(prefix.vectors(top.freeze(), measured))
        self.generator = torch.Generator().manual_seed(settings.seed)
        top.start_training(self.generator)
        self.head = new_module(self.scale, objective.outputs, begun)
        self.optimizer = torch.optim.AdamW(self._groups(settings.learning_rate), fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, rates_over(self.steps * settings.epochs))

    def _groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """The weights with their learning rates; biases and LayerNorm do not decay."""
        rate, weights = min(learning_rate, most_layer_rate(self.head.in_features)), list(self.top.parameters())
        return [
            {"params": [weight for weight in weights if weight.ndim > 1], "lr": rate, "weight_decay": WEIGHT_DECAY},
            {"params": [weight for weight in weights if weight.ndim == 1], "lr": rate, "weight_decay": 0.0},
            {"params": list(self.head.parameters()), "lr": max(learning_rate, HEAD_RATE), "weight_decay": 0.0},
        ]

    def batches(self) -> list[torch.Tensor]:
        """The rows of an epoch in random order, in batches; each batch is sorted by length."""
        order = self.train_rows[torch.randperm(len(self.train_rows), generator=self.generator)]
        return [batch[self._states.lengths[batch].argsort()] for batch in order.split(self.batch_size)]

    @property
    def _states(self) -> Ragged:
        assert isinstance(self.prefix.states, Ragged)
        return self.prefix.states

    def learn(self, batch: torch.Tensor) -> torch.Tensor:
        """One step on the rows `batch`; returns the scores [scored, outputs] before it."""
        given = torch.cat([self.top(*self._states.batch(part)) for part in batch.split(PART)])
        scores = self.head(self.scale.apply(self.prefix.select(given, batch)))
        self.optimizer.zero_grad()
        self.objective.loss(scores, self.prefix.scored(batch)).backward()
        torch.nn.utils.clip_grad_norm_(list(self.top.parameters()), MOST_GRADIENT)
        self.optimizer.step()
        self.schedule.step()
        return scores.detach()

    @no_grad
    def measure(self, epoch: int, learned: Sequence[Learned], top: Top, head: torch.nn.Linear) -> Epoch:
        """The measures of an epoch: of what was learned in it, and of these layers and this head on the held-out rows."""
        batches, scores = zip(*learned, strict=True)
        found = [head(self.scale.apply(self.prefix.vectors(top, rows))) for rows in self.scored]
        trained = self.objective.measure(torch.cat(scores), self.prefix.scored(torch.cat(batches)))
        held_out = self.objective.measure(found[0], self.prefix.scored(self.held_rows))
        return Epoch(epoch, trained, held_out, torch.cat(found).numpy())

    @property
    def weights(self) -> torch.Tensor:
        """All weights of the layers and the head, side by side."""
        return torch.nn.utils.parameters_to_vector([*self.top.parameters(), *self.head.parameters()]).detach()

    def snapshot(self, weights: torch.Tensor) -> tuple[Top, torch.nn.Linear]:
        """Frozen copies of the layers and the head, with these `weights`."""
        top, head = self.top.snapshot(), copy.deepcopy(self.head).requires_grad_(False)
        own = [*top.parameters(), *head.parameters()]
        for weight, new in zip(own, weights.split([weight.numel() for weight in own]), strict=True):
            weight.copy_(new.view_as(weight))
        return top, head


def rates_over(steps: int) -> Callable[[int], float]:
    """The share of the learning rate in each of so many steps: it rises linearly at first, and falls to 0 afterwards."""
    warm_up = max(1, round(WARM_UP * steps))
    return lambda step: min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))


def train_top(
    top: Top, prefix: Prefix, objective: Objective, split: Split, settings: TrainingSettings, begun: Head | None = None
) -> Iterator[Progress | Trained]:
    """Train a head and the layers of `top` as a Learner does, over the hidden states below them.

    The layers use the learning rate, but at most `most_layer_rate`; the head at least HEAD_RATE. Yields Progress after each
    batch, and after each epoch its measures with the running mean of head and layers; measures on the training part are means
    over the epoch.

    The running mean is more stable than the weights of any epoch (Izmailov et al. 2018, 'Averaging weights leads to wider
    optima', section 3): it is that of the second to the fourth epoch, and after that a moving one.
    """
    learner = Learner(top, prefix, objective, split, settings, begun)
    mean, start = learner.weights, time.perf_counter()
    for epoch in range(1, settings.epochs + 1):
        learned: list[Learned] = []
        for done, batch in enumerate(learner.batches(), start=1):
            learned.append((batch, learner.learn(batch)))
            yield Progress.of_step(epoch, settings.epochs, done, learner.steps, time.perf_counter() - start)
        mean = learner.weights.lerp(mean, 1 - 1 / min(AVERAGED, max(1, epoch - 1)))
        kept, head = learner.snapshot(mean)
        measured = learner.measure(epoch, learned, kept, head)
        yield measured, objective.rescale(learner.scale.fold(head.weight, head.bias)), kept if kept.layers else None
