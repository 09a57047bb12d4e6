"""The training loop in the open: every number of every step, over batches of a few texts.

It is the loop of `train_top` without dropout and without averaged epochs, so that a person can follow each step, and a program of
a page repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import LAST_FOUR, Encoded, encode
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import Learner, evaluate
from explorer.finetune.compute.layers import Prefix, Top, hidden_in_steps, shorten
from explorer.finetune.compute.predictor import TrainingPlan
from explorer.finetune.compute.task import Task
from explorer.training.examples import Examples, ScoredExamples
from explorer.training.head import Scale
from explorer.training.settings import LEAST, Epoch

BATCH = 4  # texts in a batch: so many fit on the page
MOST_TEXTS = 200  # a random sample of more examples


@dataclass(frozen=True)
class Step:
    """One step on one batch. Lengths of gradients and weights are Euclidean norms over all their numbers."""

    epoch: int  # from 1
    rows: np.ndarray  # [texts] of the examples
    vectors: np.ndarray  # [texts, hidden] that the head reads, before they are scaled
    logits: np.ndarray  # [texts, classes], before the step
    losses: np.ndarray  # [texts] cross-entropies in nats
    loss: float  # their mean
    gradient: float  # its length for the head
    below: float  # its length for the trained layers, after clipping at MOST_GRADIENT; 0 without them
    rate: float  # of the head, in this step
    layer_rate: float
    moved: float  # the length of the change of the head's weights


def loop_plan(plan: TrainingPlan) -> TrainingPlan:
    """The plan of a recipe with batches that fit on the page, and epochs where the recipe leaves them open.

    Raises InputError where the head reads four hidden states side by side.
    """
    if plan.pooling == LAST_FOUR:
        raise InputError("The loop reads one vector per text. Choose the mean, [CLS] or the pooler in Settings.")
    given = plan.settings
    epochs = given.epochs or LEAST[bool(plan.layers_trained)][0]
    settings = replace(given, epochs=epochs, batch_size=BATCH)
    return replace(plan, settings=settings)


class Loop:
    """A training that does no more steps than are asked for, and keeps the numbers of each.

    The weights are copies. Two people with the same examples and settings may share it: the same seed gives the same steps.
    """

    def __init__(self, model: Explorer, examples: Examples, plan: TrainingPlan, longest: int) -> None:
        """Read the texts, cut at `longest` tokens. Raises InputError where nothing can be held out or the labels are numbers."""
        if isinstance(examples, ScoredExamples):
            raise InputError("The loop learns classes, and these examples have numbers. Choose examples with labels.")
        self.examples, self.plan = examples.draw(MOST_TEXTS), plan
        task = Task(model, self.examples, plan)
        self.split = task.split()
        encoded = encode(model, self.examples.pairs)
        self.cut = sum(len(ids) > longest for ids, _ in encoded)  # texts that are shortened
        self.encoded: list[Encoded] = [(shorten(ids, longest), shorten(segments, longest)) for ids, segments in encoded]
        self._states = finished(hidden_in_steps(model, encoded, plan.layer - plan.layers_trained, longest))
        self._prefix = Prefix(self._states, every := np.arange(len(encoded)), every)
        self._objective = task.objective(self._prefix, self.split)
        self.per_epoch = -(-len(self.split.train) // BATCH)
        self.total = self.per_epoch * plan.settings.epochs
        top = Top(model, plan.layer, plan.layers_trained, plan.pooling).freeze()
        scale = Scale.of(evaluate(top, self._states, torch.from_numpy(self.split.train)))
        self._learner = Learner.start(top, scale, self._objective, plan.settings, self.total)
        top.module.eval()  # without dropout, which `start` switched on
        if not plan.layers_trained:
            top.freeze()  # a pooler stays as it is
        self.layer_rate, _, self.rate = self._learner.schedule.base_lrs
        self._lock, self._work = Lock(), self._run()
        self._steps: list[Step] = []
        self._epochs: list[Epoch] = []

    @property
    def nbytes(self) -> int:
        """The approximate memory: hidden states, and the trained weights with their gradients and AdamW's two moments."""
        weights = sum(weight.numel() for weight in self._learner.top.parameters() if weight.requires_grad)
        return 4 * (self._states.flat.numel() + 4 * weights)

    def step(self, number: int) -> Step:
        """The step with this number, from 0; the ones before it are done first if they are not."""
        with self._lock:
            while len(self._steps) <= number:
                self._steps.append(next(self._work))
            return self._steps[number]

    def epochs(self, steps: int) -> list[Epoch]:
        """The measures of the epochs that end within so many steps: the training part's during the epoch, held-out after it."""
        if steps:
            self.step(steps - 1)
        return self._epochs[: steps // self.per_epoch]

    def _run(self) -> Iterator[Step]:
        learner, rows, held = self._learner, *map(torch.from_numpy, self.split)
        for epoch in range(1, self.plan.settings.epochs + 1):
            # In the order of the draw: `shuffled` sorts each batch by length, which changes no loss of a batch.
            batches = learner.shuffled(self._states, rows, BATCH)
            steps: list[Step] = []
            for batch in batches:
                steps.append(self._learn(epoch, batch))
                if len(steps) == len(batches):
                    with torch.no_grad():
                        scores = learner.head(learner.scale.apply(evaluate(learner.top, self._states, held)))
                    logits = torch.from_numpy(np.concatenate([step.logits for step in steps]))
                    trained = self._objective.measure(logits, torch.cat(batches))
                    self._epochs.append(Epoch(epoch, trained, self._objective.measure(scores, held)))
                yield steps[-1]

    def _learn(self, epoch: int, batch: torch.Tensor) -> Step:
        learner, head = self._learner, self._learner.head
        layer_rate, _, rate = learner.schedule.get_last_lr()
        vectors = evaluate(learner.top, self._states, batch)
        before = [weight.detach().clone() for weight in head.parameters()]
        logits = learner.learn(self._prefix, self._states, batch)
        targets = torch.from_numpy(self.examples.targets)
        losses = torch.nn.functional.cross_entropy(logits, targets[batch], reduction="none")
        return Step(
            epoch=epoch,
            rows=batch.numpy(),
            vectors=vectors.numpy(),
            logits=logits.numpy(),
            losses=losses.numpy(),
            loss=float(losses.mean()),
            gradient=_length(weight.grad for weight in head.parameters()),
            below=_length(weight.grad for weight in learner.top.parameters()),
            rate=rate,
            layer_rate=layer_rate,
            moved=_length(weight.detach() - old for weight, old in zip(head.parameters(), before, strict=True)),
        )


def _length(parts: Iterable[torch.Tensor | None]) -> float:
    return float(torch.nn.utils.get_total_norm([part for part in parts if part is not None]))
