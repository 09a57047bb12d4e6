"""A plan of a training, which is checked, and the training of any kind of head by it, for the page and the API."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import LAST_FOUR
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.limits import EPOCHS, NONE, TEXTS, TRAINING_MINUTES
from explorer.core.steps import Stopped, finished, map_steps
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.finetune import Progress, Trained, train, train_top
from explorer.finetune.compute.in_turn import train_in_turn
from explorer.finetune.compute.layers import Prefix, Ragged, Top
from explorer.finetune.compute.predictor import HeldOut, Predictor, Run, TrainingPlan, write_measure
from explorer.finetune.compute.texts import Classifier, HeldOutTexts, Regressor
from explorer.finetune.compute.words import Tagger
from explorer.text import limits
from explorer.training.examples import Split
from explorer.training.head import Head, Objective, Solvable
from explorer.training.settings import FEWEST_HELD_OUT, OPTIMIZERS, Epoch, TrainingSettings

MOST_FOLLOWED, MOST_MOMENTS = 500, 20  # held-out texts, and epochs, of which the map makes a film

Stop = Callable[[], bool]
HEADS = {head.kind: head for head in (Classifier, Regressor, Tagger, Answerer)}  # by their names in files
CHECKS: dict[str, Callable[[object], Any]] = {
    "epochs": lambda value: limits.check_integer(value, "the number of epochs", 0, EPOCHS.most),
    "learning_rate": lambda value: limits.check_number(value, "the learning rate", 1e-6, 1),
    "batch_size": lambda value: limits.check_integer(value, "the batch size", 1, 1024),
    "seed": lambda value: limits.check_integer(value, "the seed", 0, 2**31 - 1),
    "optimizer": lambda value: limits.check_choice(value, "the optimizer", OPTIMIZERS),
    "regularization": lambda value: limits.check_number(value, "the regularization", 1e-6, 1e6),
    "held_out": lambda value: limits.check_number(value, "the share held out", 0.01, 0.9),
}


def make_plan(
    model: Explorer,
    layer: object,
    pooling: object,
    layers_trained: object = 0,
    keep_best: bool = False,
    predictor: type[Predictor] = Classifier,
    **settings: object,
) -> TrainingPlan:
    """A plan from values that were sent; `settings` are those of TrainingSettings. Raises InputError or CapabilityError."""
    most = model.capabilities.layers
    index = limits.hidden_state_index(layer, most)
    pooling = limits.check_choice(pooling, "pooling", predictor.poolings)
    if pooling == "pooler":
        model.require("pooler")
        if index != most:
            raise InputError("The pooler reads the last layer only. Choose the last layer, or another pooling.")
    trained = limits.check_integer(layers_trained, "the number of layers trained", 0, most)
    if trained:
        model.require("own_layers")
        if pooling == LAST_FOUR:
            raise InputError(
                "This pooling reads four hidden states, so it works only with frozen layers. Set the trained layers to 0, or "
                "choose another pooling."
            )
    if trained > index:
        raise InputError(f"The head reads hidden state {index}, so that no more than {index} layers can be trained.")
    checked = TrainingSettings(**{name: CHECKS[name](value) for name, value in settings.items()})
    return TrainingPlan(index, pooling, trained, checked, keep_best)


def go_on(model: Explorer, predictor: Predictor, settings: Mapping[str, Any]) -> TrainingPlan:
    """The plan of another training by a run's settings that goes on from its predictor. Raises InputError."""
    numbers = {name: settings[name] for name in CHECKS if name in settings}
    shape = (settings["layer"], settings["pooling"], settings["layers_trained"], settings["keep_best"])
    return replace(make_plan(model, *shape, type(predictor), **numbers), start=predictor)


@dataclass(frozen=True, eq=False)
class Task:
    """A training: a plan for a model and examples, which say by their class what kind of head it is."""

    model: Explorer
    examples: Any
    plan: TrainingPlan

    @property
    def head(self) -> type[Predictor]:
        return next(head for head in HEADS.values() if head.learns is type(self.examples))

    @property
    def in_turn(self) -> bool:
        """Whether the head is trained on all examples, and judged by leave-one-out (Stone 1974).

        A fifth of 18 examples is 3, and '3 of 3 right' says little.
        """
        return not self.plan.settings.held_out

    def fill_in(self) -> Task:
        """The task with settings left open filled in by the number of examples; few ones are left out in turn."""
        settings, layers = self.plan.settings, self.plan.layers_trained
        fitted = settings.fill_in(len(self.examples), layers)
        few = len(self.examples) * settings.held_out < FEWEST_HELD_OUT
        if few and self.head is Classifier and not (settings.epochs or layers):
            fitted = fitted.for_few()
        return replace(self, plan=replace(self.plan, settings=fitted))

    def split(self) -> Split:
        """The examples to train on and those held out; both are all of them under leave-one-out. Raises InputError."""
        parts = self.examples.split(self.plan.settings.seed, self.plan.settings.held_out)
        return Split(*[np.arange(len(self.examples))] * 2) if self.in_turn else parts

    def read(self) -> Generator[float, None, Prefix]:
        """The output of the frozen layers for all examples, computed once; yields the share done, 0 to 1."""
        return self.head.read(self.model, self.head.inputs(self.examples), self.plan)

    def objective(self, prefix: Prefix, parts: Split) -> Objective:
        return self.head.objective(self.examples, prefix, parts)

    def epochs(self, prefix: Prefix, parts: Split) -> Iterator[Progress | Trained]:
        """Train on the output of `read`, the head alone or with the layers below it; yields what the functions it uses do."""
        plan, objective, rows = self.plan, self.objective(prefix, parts), prefix.split(parts)
        begun = None if plan.start is None else plan.start.head
        if not isinstance(prefix.states, Ragged):
            if self.in_turn:
                return train_in_turn(prefix.states, self.examples, plan.settings)
            assert isinstance(objective, Solvable)
            return train(prefix.states, objective, rows, plan.settings, begun)
        top = Top(self.model, plan.layer, plan.layers_trained, self.head.top_pooling(plan.pooling))
        if plan.start is not None and plan.start.top is not None:
            top.module.load_state_dict(plan.start.top.module.state_dict())
        return train_top(top, prefix, objective, rows, plan.settings, begun)

    def hold_out(
        self, predictor: Predictor, prefix: Prefix, parts: Split, history: Sequence[Epoch]
    ) -> tuple[HeldOut, HeldOut | None]:
        """The held-out examples with the predictor's output, under leave-one-out that of the last epoch's heads.

        Beside them few texts that layers were trained on, with their output.
        """
        rows, scores = prefix.split(parts), history[-1].scores
        if self.in_turn and scores is not None:
            return self.head.hold_out(self.examples, prefix, rows.held_out, scores), None

        def record(part: np.ndarray) -> HeldOut:
            return self.head.hold_out(self.examples, prefix, part, predictor.head.outputs(predictor.vectors(prefix, part)))

        held_out = record(rows.held_out)
        if not self.plan.layers_trained or not isinstance(held_out, HeldOutTexts) or len(held_out.texts) > MOST_FOLLOWED:
            return held_out, None
        shown = np.unique(np.linspace(0, len(history) - 1, min(len(history), MOST_MOMENTS)).round().astype(int))
        epochs = scipy.special.softmax(np.stack([history[epoch].scores for epoch in shown]), axis=-1)
        count = len(held_out.texts)
        learned = record(rows.train) if epochs.shape[1] > count else None
        followed = replace(learned, epochs=epochs[:, count:]) if isinstance(learned, HeldOutTexts) else None
        return replace(held_out, epochs=epochs[:, :count]), followed


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The end of a training: the predictor of epoch `best`, and the held-out examples."""

    task: Task
    predictor: Predictor
    history: tuple[Epoch, ...]
    best: int  # index in the history
    split: Split
    held_out: HeldOut
    learned: HeldOut | None = None  # few texts that layers were trained on


def run_training(task: Task, stop: Stop = lambda: False) -> Generator[Progress, None, TrainingResult | None]:
    """Train as planned; yields the progress and returns the result, or None when stopped before the first epoch ended.

    `stop()` is called after every batch, and the time limit is TRAINING_MINUTES; epochs finished by then count. Raises
    InputError.
    """
    task, begun, minutes = task.fill_in(), time.monotonic(), TRAINING_MINUTES.most
    plan, parts = task.plan, task.split()  # raises before anything is computed

    def ends() -> bool:
        return stop() or (minutes != NONE and time.monotonic() - begun > 60 * minutes)

    prefix = yield from _read(task, ends)
    if prefix is None:
        return None
    history: list[Epoch] = []
    kept: tuple[int, Head, Top | None] | None = None
    measure = task.head.measures[1]
    chosen = plan.keep_best and len(parts.held_out) >= FEWEST_HELD_OUT

    def score(epoch: Epoch) -> tuple[float, float]:
        return epoch.held_out[measure], -epoch.held_out["loss"]

    for report in task.epochs(prefix, parts):
        if isinstance(report, Progress):
            yield report
        else:
            epoch, head, top = report
            history.append(epoch)
            if kept is None or not chosen or score(epoch) > score(history[kept[0]]):
                kept = len(history) - 1, head, top
            said = f"{epoch.epoch} of {plan.settings.reports}: held-out {write_measure(measure, epoch.held_out[measure])}"
            yield Progress(epoch.epoch / plan.settings.reports, f"Epoch {said}.", epoch)
        if ends():
            break
    if kept is None:
        return None
    if len(task.examples) > TEXTS.most:  # baselines and held-out examples take a while
        yield Progress(1.0, "Comparing it with what needs no BERT.")
    best, head, top = kept
    labels = task.head.own_labels or tuple(task.examples.classes)
    predictor = task.head(labels, head, task.model.name, plan.layer, plan.pooling, top)
    return TrainingResult(task, predictor, tuple(history), best, parts, *task.hold_out(predictor, prefix, parts, history))


def _read(task: Task, ends: Stop) -> Generator[Progress, None, Prefix | None]:
    """The output of the frozen layers, or None when it was stopped."""

    def progress(share: float) -> Progress:
        if ends():
            raise Stopped
        return Progress(0.0, f"Reading {len(task.examples):,} examples, once: {share:.0%}.")

    try:
        return (yield from map_steps(task.read(), progress))
    except Stopped:
        return None


def train_whole(task: Task) -> TrainingResult:
    """Train as planned, blocking. Raises InputError."""
    result = finished(run_training(task))
    if result is None:
        raise InputError("The training had to end before it began. Try again.")
    return result


def as_run(result: TrainingResult, title: str, identifier: str) -> Run:
    """The run of a training, with its held-out examples and the baselines, not stored yet."""
    plan = vars(result.task.plan)
    every = {**plan, **vars(plan["settings"])}
    return Run(
        predictor=result.predictor,
        title=title,
        settings={name: value for name, value in every.items() if name not in ("settings", "start")},
        history=[epoch.as_row() for epoch in result.history],
        best=result.best,
        held_out=result.held_out,
        learned=result.learned,
        baselines=result.task.head.baselines(result.task.examples, result.split),
        id=identifier,
    )
