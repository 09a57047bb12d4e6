"""One training from examples to a classifier: what the page and the API both run."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch

from explorer.base.errors import InputError
from explorer.model.explorer import Explorer
from explorer.model.features import POOLINGS
from explorer.text import limits
from explorer.training.classifier import Classifier, vectors_in_steps
from explorer.training.examples import HELD_OUT_SHARE, Examples, split
from explorer.training.finetune import Step, Top, evaluate, train_top
from explorer.training.head import OPTIMIZERS, Epoch, Head, Settings, train
from explorer.training.prefix import hidden_in_steps

MOST_EPOCHS = 200
MOST_UNITS = 512


@dataclass(frozen=True)
class Plan:
    """What to train: a head on the hidden state `layer` (an index), and the `layers_trained` layers below it."""

    layer: int
    pooling: str
    layers_trained: int = 0
    settings: Settings = field(default_factory=Settings)
    keep_best: bool = False  # the epoch with the highest held-out accuracy; otherwise the last

    def as_row(self) -> dict[str, Any]:
        """Everything by name, flat."""
        own = {name: value for name, value in asdict(self).items() if name != "settings"}
        return {**own, **asdict(self.settings)}


def make_plan(
    model: Explorer,
    layer: object,
    pooling: object,
    layers_trained: object = 0,
    keep_best: bool = False,
    **settings: Any,
) -> Plan:
    """A plan from what a person or a program sent. Raises InputError or CapabilityError."""
    can = model.capabilities
    index = limits.hidden_state_index(layer, can.layers)
    limits.check_choice(pooling, "pooling", POOLINGS)
    if pooling == "pooler":
        model.require("pooler")
        if index != can.layers:
            raise InputError("The pooler reads the last layer only; choose the last layer, or another pooling.")
    trained = limits.check_integer(layers_trained, "the number of layers trained", 0, can.layers)
    if trained > index:
        raise InputError(f"The head reads hidden state {index}, so that no more than {index} layers can be trained.")
    return Plan(index, pooling, trained, _settings(**settings), keep_best)


def _settings(
    epochs: object = 10,
    learning_rate: object = 0.01,
    batch_size: object = 32,
    seed: object = 0,
    optimizer: object = "adam",
    units: object = 0,
    balanced: bool = False,
    regularization: object = 1.0,
    held_out: object = HELD_OUT_SHARE,
    patience: object = 0,
) -> Settings:
    return Settings(
        epochs=limits.check_integer(epochs, "the number of epochs", 1, MOST_EPOCHS),
        learning_rate=limits.check_number(learning_rate, "the learning rate", 1e-6, 1),
        batch_size=limits.check_integer(batch_size, "the batch size", 1, 1024),
        seed=limits.check_integer(seed, "the seed", 0, 2**31 - 1),
        optimizer=limits.check_choice(optimizer, "the optimizer", OPTIMIZERS),
        units=limits.check_integer(units, "the number of hidden units", 0, MOST_UNITS),
        balanced=bool(balanced),
        regularization=limits.check_number(regularization, "the regularization", 1e-6, 1e6),
        held_out=limits.check_number(held_out, "the share held out", 0.01, 0.9),
        patience=limits.check_integer(patience, "the patience", 0, MOST_EPOCHS),
    )


@dataclass(frozen=True)
class Progress:
    """How far it is: a share of all the work, 0 to 1, what is being done, and what an epoch gave when one has ended."""

    share: float
    doing: str
    epoch: Epoch | None = None


@dataclass(frozen=True, eq=False)
class Taught:
    """The end of a training: the classifier of epoch `best`, and what it says of the held-out examples."""

    classifier: Classifier
    plan: Plan
    history: tuple[Epoch, ...]
    best: int  # index in the history
    train_rows: np.ndarray
    held_rows: np.ndarray
    probabilities: np.ndarray  # [held-out examples, labels]
    vectors: np.ndarray  # [held-out examples, hidden]: what the head reads


def teach(
    model: Explorer, examples: Examples, plan: Plan, stop: Callable[[], bool] = lambda: False
) -> Generator[Progress, None, Taught | None]:
    """Train as planned; yields how it goes and returns the end, or None when it was stopped before the first epoch.

    `stop()` is asked after every batch; what was learnt until then stays. Raises InputError.
    """
    train_rows, held_rows = split(
        examples, plan.settings.seed, plan.settings.held_out
    )  # fails before anything is computed
    below = yield from _below(model, examples, plan, stop)
    if below is None:
        return None
    history: list[Epoch] = []
    kept: tuple[int, Head, Top | None] | None = None
    for report in _epochs(model, examples, plan, below):
        if isinstance(report, Step):
            yield _progress(report, plan)
        else:
            epoch, head, top = report
            history.append(epoch)
            if kept is None or not plan.keep_best or _score(epoch) > _score(history[kept[0]]):
                kept = len(history) - 1, head, top
            yield Progress(epoch.epoch / plan.settings.epochs, _said(epoch, plan), epoch)
        if stop():
            break
    if kept is None:
        return None
    best, head, top = kept
    vectors = below[held_rows] if top is None else evaluate(top, below, torch.from_numpy(held_rows)).numpy()
    classifier = Classifier(tuple(examples.classes), head, model.name, plan.layer, plan.pooling, top)
    return Taught(classifier, plan, tuple(history), best, train_rows, held_rows, head.probabilities(vectors), vectors)


def _below(
    model: Explorer, examples: Examples, plan: Plan, stop: Callable[[], bool]
) -> Generator[Progress, None, Any | None]:
    """What the frozen part gives, once: vectors [examples, hidden], or hidden states when layers are trained."""
    if plan.layers_trained:
        steps = hidden_in_steps(model, examples.pairs, plan.layer - plan.layers_trained)
    else:
        steps = vectors_in_steps(model, examples.pairs, plan.layer, plan.pooling)
    while True:
        try:
            share = next(steps)
        except StopIteration as done:
            return done.value
        yield Progress(0.0, f"Reading {len(examples):,} examples, once: {share:.0%}.")
        if stop():
            return None


def _epochs(
    model: Explorer, examples: Examples, plan: Plan, below: Any
) -> Iterator[Step | tuple[Epoch, Head, Top | None]]:
    if not plan.layers_trained:
        for epoch, head in train(below, examples, plan.settings):
            yield epoch, head, None
        return
    yield from train_top(
        model,
        below,
        examples,
        layer=plan.layer,
        layers_trained=plan.layers_trained,
        pooling=plan.pooling,
        settings=plan.settings,
    )


def _score(epoch: Epoch) -> tuple[float, float]:
    return epoch.held_out_accuracy, -epoch.held_out_loss


def _progress(step: Step, plan: Plan) -> Progress:
    share = (step.epoch - 1 + step.done / step.total) / plan.settings.epochs
    speed = f"{step.steps_per_second:.1f} steps a second, {_clock(step.seconds_left)} left"
    return Progress(share, f"Epoch {step.epoch} of {plan.settings.epochs}, step {step.done} of {step.total}: {speed}.")


def _clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _said(epoch: Epoch, plan: Plan) -> str:
    return f"Epoch {epoch.epoch} of {plan.settings.epochs}: held-out accuracy {epoch.held_out_accuracy:.1%}."
