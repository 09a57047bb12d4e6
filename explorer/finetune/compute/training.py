"""A training from examples to a stored run, for the page and the API, whatever the kind of task."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.limits import NONE, TEXTS, TRAINING_MINUTES
from explorer.core.steps import finished
from explorer.finetune.compute import store
from explorer.finetune.compute.finetune import Progress
from explorer.finetune.compute.predictor import HeldOut, Predictor
from explorer.finetune.compute.prefix import Prefix
from explorer.finetune.compute.run import Run, write_measure
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.texts import HeldOutTexts
from explorer.finetune.compute.top_layers import Top
from explorer.training.examples import Split
from explorer.training.head import Head
from explorer.training.settings import FEWEST_HELD_OUT, Epoch

MOST_FOLLOWED, MOST_MOMENTS = 500, 20  # held-out texts, and epochs, of which the map makes a film

Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The end of a training: the predictor of epoch `best`, and the held-out examples."""

    task: Task
    predictor: Predictor
    history: tuple[Epoch, ...]
    best: int  # index in the history
    split: Split
    held_out: HeldOut


def run_training(task: Task, stop: Stop = lambda: False) -> Generator[Progress, None, TrainingResult | None]:
    """Train as planned; yields the progress and returns the result, or None when stopped before the first epoch ended.

    `stop()` is called after every batch, and the time limit is TRAINING_MINUTES; epochs finished by then count. Raises
    InputError.
    """
    task, begun, minutes = task.fill_in(), time.monotonic(), TRAINING_MINUTES.most
    plan, parts = task.plan, task.split()  # raises before anything is computed

    def ends() -> bool:
        return stop() or (minutes != NONE and time.monotonic() - begun > 60 * minutes)

    prefix = yield from _read(task, parts, ends)
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
    predictor = task.head(task.labels, head, task.model.name, plan.layer, plan.pooling, top)
    held_out = task.hold_out(predictor, prefix, parts, history[-1])
    if plan.layers_trained:
        held_out = with_epochs(held_out, history)
    return TrainingResult(task, predictor, tuple(history), best, parts, held_out)


def with_epochs(held_out: HeldOut, history: list[Epoch]) -> HeldOut:
    """The held-out texts with their probabilities after each epoch, of at most MOST_MOMENTS epochs and MOST_FOLLOWED texts."""
    if not isinstance(held_out, HeldOutTexts) or len(held_out.texts) > MOST_FOLLOWED:
        return held_out
    shown = np.unique(np.linspace(0, len(history) - 1, min(len(history), MOST_MOMENTS)).round().astype(int))
    scores = np.stack([history[epoch].scores for epoch in shown])
    return replace(held_out, epochs=scipy.special.softmax(scores, axis=-1))


def train_whole(task: Task) -> TrainingResult:
    """Train as planned, blocking. Raises InputError."""
    result = finished(run_training(task))
    if result is None:
        raise InputError("The training had to end before it began. Try again.")
    return result


def new_run(result: TrainingResult, title: str, identifier: str = "", visitor: str = store.HOUSE) -> Run:
    """Store a visitor's training under an id."""
    return store.keep(as_run(result, title, identifier), visitor)


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
        baselines=result.task.head.baselines(result.task.examples, result.split),
        id=identifier,
    )


def _read(task: Task, parts: Split, ends: Stop) -> Generator[Progress, None, Prefix | None]:
    """The output of the frozen layers, or None when it was stopped."""
    steps = task.read(parts)
    while True:
        try:
            share = next(steps)
        except StopIteration as done:
            return done.value
        yield Progress(0.0, f"Reading {len(task.examples):,} examples, once: {share:.0%}.")
        if ends():
            return None
