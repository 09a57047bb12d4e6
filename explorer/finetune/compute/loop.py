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
from explorer.bert.features import LAST_FOUR, encode
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import Learned, Learner
from explorer.finetune.compute.layers import Prefix, Top, hidden_in_steps, shorten
from explorer.finetune.compute.predictor import TrainingPlan
from explorer.finetune.compute.task import Task
from explorer.training.examples import Examples, ScoredExamples
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
        self.encoded = [shorten(text, longest) for text in encoded]
        states = finished(hidden_in_steps(model, self.encoded, plan.layer - plan.layers_trained))
        prefix = Prefix(states, every := np.arange(len(encoded)), every)
        top = Top(model, plan.layer, plan.layers_trained, plan.pooling)
        self._learner = Learner(top, prefix, task.objective(prefix, self.split), self.split, plan.settings)
        top.module.eval()  # without dropout
        if not plan.layers_trained:
            top.freeze()  # a pooler stays as it is
        self.per_epoch = self._learner.steps
        self.total = self.per_epoch * plan.settings.epochs
        self.layer_rate, _, self.rate = self._learner.schedule.base_lrs
        weights = sum(weight.numel() for weight in top.parameters() if weight.requires_grad)
        numbers = sum(text.numel() for text in states.texts)
        self.nbytes = 4 * (numbers + 4 * weights)  # hidden states; weights, gradients and AdamW's two moments
        self._lock, self._work = Lock(), self._run()
        self._steps: list[Step] = []
        self._epochs: list[Epoch] = []

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
        learner = self._learner
        for epoch in range(1, self.plan.settings.epochs + 1):
            learned: list[Learned] = []
            for batch in learner.batches():
                step = self._learn(epoch, batch)
                learned.append((batch, torch.from_numpy(step.logits)))
                if len(learned) == learner.steps:
                    self._epochs.append(learner.measure(epoch, learned, learner.top, learner.head))
                yield step

    def _learn(self, epoch: int, batch: torch.Tensor) -> Step:
        learner, head = self._learner, self._learner.head
        layer_rate, _, rate = learner.schedule.get_last_lr()
        vectors = learner.prefix.vectors(learner.top, batch)
        before = [weight.detach().clone() for weight in head.parameters()]
        logits = learner.learn(batch)
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
