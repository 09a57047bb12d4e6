"""One training from examples to a run that is kept: what the page and the API both do."""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from explorer.analysis.projection import principal_components
from explorer.base.errors import InputError
from explorer.base.limits import EPOCHS, NONE, TRAINING_MINUTES
from explorer.model.explorer import Explorer
from explorer.model.features import POOLINGS, features_in_steps
from explorer.text import limits
from explorer.training import store
from explorer.training.baselines import baselines
from explorer.training.classifier import Classifier
from explorer.training.examples import Examples, Split, split
from explorer.training.finetune import Step, Top, evaluate, train_top
from explorer.training.head import OPTIMIZERS, Epoch, Head, TrainingSettings, train
from explorer.training.prefix import hidden_in_steps
from explorer.training.quota import HOUSE
from explorer.training.run import HeldOut, Run

MOST_UNITS = 512
CHECKS: dict[str, Callable[[object], Any]] = {
    "epochs": lambda value: limits.check_integer(value, "the number of epochs", 1, EPOCHS.most),
    "learning_rate": lambda value: limits.check_number(value, "the learning rate", 1e-6, 1),
    "batch_size": lambda value: limits.check_integer(value, "the batch size", 1, 1024),
    "seed": lambda value: limits.check_integer(value, "the seed", 0, 2**31 - 1),
    "optimizer": lambda value: limits.check_choice(value, "the optimizer", OPTIMIZERS),
    "units": lambda value: limits.check_integer(value, "the number of hidden units", 0, MOST_UNITS),
    "balanced": bool,
    "regularization": lambda value: limits.check_number(value, "the regularization", 1e-6, 1e6),
    "held_out": lambda value: limits.check_number(value, "the share held out", 0.01, 0.9),
    "patience": lambda value: limits.check_integer(value, "the patience", 0, EPOCHS.most),
}


@dataclass(frozen=True)
class TrainingPlan:
    """What to train: a head on the hidden state `layer` (an index), and the `layers_trained` layers below it."""

    layer: int
    pooling: str
    layers_trained: int = 0
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    keep_best: bool = False  # the epoch with the highest held-out accuracy; otherwise the last


def make_plan(
    model: Explorer, layer: object, pooling: object, layers_trained: object = 0, keep_best: bool = False, **settings: object
) -> TrainingPlan:
    """A plan from what was sent; `settings` are those of TrainingSettings. Raises InputError or CapabilityError."""
    most = model.capabilities.layers
    index = limits.hidden_state_index(layer, most)
    limits.check_choice(pooling, "pooling", POOLINGS)
    if pooling == "pooler":
        model.require("pooler")
        if index != most:
            raise InputError("The pooler reads the last layer only; choose the last layer, or another pooling.")
    trained = limits.check_integer(layers_trained, "the number of layers trained", 0, most)
    if trained:
        model.require("own_layers")
    if trained > index:
        raise InputError(f"The head reads hidden state {index}, so that no more than {index} layers can be trained.")
    checked = TrainingSettings(**{name: CHECKS[name](value) for name, value in settings.items()})
    return TrainingPlan(index, pooling, trained, checked, keep_best)


@dataclass(frozen=True)
class Progress:
    """How far it is: a share of all the work, 0 to 1, what is being done, and what an epoch gave when one has ended."""

    share: float
    doing: str
    epoch: Epoch | None = None


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The end of a training: the classifier of epoch `best`, and what it says of the held-out examples."""

    classifier: Classifier
    plan: TrainingPlan
    history: tuple[Epoch, ...]
    best: int  # index in the history
    split: Split
    probabilities: np.ndarray  # [held-out examples, labels]
    vectors: np.ndarray  # [held-out examples, hidden]: what the head reads


def run_training(
    model: Explorer, examples: Examples, plan: TrainingPlan, stop: Callable[[], bool] = lambda: False
) -> Generator[Progress, None, TrainingResult | None]:
    """Train as planned; yields how it goes and returns the end, or None when it was stopped before the first epoch.

    `stop()` is asked after every batch, and the time is up after TRAINING_MINUTES; what was learnt until then stays. Raises
    InputError.
    """
    parts = split(examples, plan.settings.seed, plan.settings.held_out)  # fails before anything is computed
    stop = _in_time(stop)
    below = yield from _read(model, examples, plan, stop)
    if below is None:
        return None
    history: list[Epoch] = []
    kept: tuple[int, Head, Top | None] | None = None
    for report in _epochs(model, examples, parts, plan, below):
        if isinstance(report, Step):
            yield _progress_in(report, plan.settings.epochs)
        else:
            epoch, head, top = report
            history.append(epoch)
            if kept is None or not plan.keep_best or _score(epoch) > _score(history[kept[0]]):
                kept = len(history) - 1, head, top
            yield _progress_after(epoch, plan.settings.epochs)
        if stop():
            break
    if kept is None:
        return None
    best, head, top = kept
    held = parts.held_out
    vectors = below[held] if top is None else evaluate(top, below, torch.from_numpy(held)).numpy()
    classifier = Classifier(tuple(examples.classes), head, model.name, plan.layer, plan.pooling, top)
    return TrainingResult(classifier, plan, tuple(history), best, parts, head.probabilities(vectors), vectors)


def _in_time(stop: Callable[[], bool]) -> Callable[[], bool]:
    """Whether to stop: when it is asked for, or when the training has taken as long as one may take."""
    start, minutes = time.monotonic(), TRAINING_MINUTES.most
    return lambda: stop() or (minutes != NONE and time.monotonic() - start > 60 * minutes)


def new_run(result: TrainingResult, examples: Examples, title: str, identifier: str = "", visitor: str = HOUSE) -> Run:
    """Keep what a visitor's training learnt, with the held-out examples, their map and the baselines, under an id."""
    held, settings = result.split.held_out, {**vars(result.plan), **vars(result.plan.settings)}
    del settings["settings"]
    held_out = HeldOut(
        tuple(examples.texts[row] for row in held),
        tuple(examples.pairs[row][1] for row in held),
        examples.targets[held],
        result.probabilities,
        principal_components(result.vectors, 2)[0],
    )
    run = Run(
        classifier=result.classifier,
        title=title,
        settings=settings,
        history=[vars(epoch) for epoch in result.history],
        best=result.best,
        held_out=held_out,
        baselines=baselines(examples, result.split),
        id=identifier,
    )
    return store.keep(run, visitor)


def _read(
    model: Explorer, examples: Examples, plan: TrainingPlan, stop: Callable[[], bool]
) -> Generator[Progress, None, Any | None]:
    """What the frozen part gives, once: vectors [examples, hidden], or hidden states when layers are trained."""
    if plan.layers_trained:
        steps = hidden_in_steps(model, examples.pairs, plan.layer - plan.layers_trained)
    else:
        steps = features_in_steps(model, examples.pairs, plan.layer, plan.pooling)
    while True:
        try:
            share = next(steps)
        except StopIteration as done:
            return done.value
        yield Progress(0.0, f"Reading {len(examples):,} examples, once: {share:.0%}.")
        if stop():
            return None


def _epochs(
    model: Explorer, examples: Examples, parts: Split, plan: TrainingPlan, below: Any
) -> Iterator[Step | tuple[Epoch, Head, Top | None]]:
    if plan.layers_trained:
        top = Top(model, plan.layer, plan.layers_trained, plan.pooling)
        yield from train_top(top, below, examples, parts, plan.settings)
    else:
        yield from ((epoch, head, None) for epoch, head in train(below, examples, parts, plan.settings))


def _score(epoch: Epoch) -> tuple[float, float]:
    return epoch.held_out_accuracy, -epoch.held_out_loss


def _progress_in(step: Step, epochs: int) -> Progress:
    left = f"{step.seconds_left:.0f} s" if step.seconds_left < 90 else f"{step.seconds_left / 60:.0f} min"
    speed = f"{step.steps_per_second:.1f} steps a second, {left} left"
    share = (step.epoch - 1 + step.done / step.total) / epochs
    return Progress(share, f"Epoch {step.epoch} of {epochs}, step {step.done} of {step.total}: {speed}.")


def _progress_after(epoch: Epoch, epochs: int) -> Progress:
    doing = f"Epoch {epoch.epoch} of {epochs}: held-out accuracy {epoch.held_out_accuracy:.1%}."
    return Progress(epoch.epoch / epochs, doing, epoch)
