"""A plan of a training, which is checked, and the training of any kind of head by it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import LAST_FOUR
from explorer.core.errors import InputError
from explorer.core.limits import EPOCHS
from explorer.finetune.compute.answers import Answerer
from explorer.finetune.compute.finetune import Progress, train, train_top
from explorer.finetune.compute.in_turn import train_in_turn
from explorer.finetune.compute.predictor import HeldOut, Predictor
from explorer.finetune.compute.prefix import Prefix, Ragged
from explorer.finetune.compute.texts import Classifier, Regressor
from explorer.finetune.compute.top_layers import Top
from explorer.finetune.compute.words import Tagger
from explorer.text import limits
from explorer.training.examples import Split
from explorer.training.head import Head, Objective
from explorer.training.settings import FEWEST_HELD_OUT, OPTIMIZERS, Epoch, TrainingSettings

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


@dataclass(frozen=True)
class TrainingPlan:
    """What to train: a head on the hidden state `layer` (an index), with the `layers_trained` layers below it."""

    layer: int
    pooling: str
    layers_trained: int = 0
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    keep_best: bool = False  # keep the epoch that scores best on the held-out examples; otherwise the last
    start: Predictor | None = None  # to go on from; otherwise a new head on BERT's own layers


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


def head_for(examples: object) -> type[Predictor]:
    """The kind of head that learns from such examples."""
    return next(head for head in HEADS.values() if head.learns is type(examples))


@dataclass(frozen=True, eq=False)
class Task:
    """A training: a plan for a model and examples, which say by their class what kind of head it is."""

    model: Explorer
    examples: Any
    plan: TrainingPlan

    @property
    def head(self) -> type[Predictor]:
        return head_for(self.examples)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.head.own_labels or tuple(self.examples.classes)

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

    def read(self, parts: Split) -> Generator[float, None, Prefix]:
        """The output of the frozen layers for all examples, computed once; yields the share done, 0 to 1."""
        return self.head.read_to_learn(self.model, self.examples, self.plan, parts.held_out, self.plan.settings.seed)

    def objective(self, prefix: Prefix, parts: Split) -> Objective:
        return self.head.objective(self.examples, prefix, parts)

    def epochs(self, prefix: Prefix, parts: Split) -> Iterator[Progress | tuple[Epoch, Head, Top | None]]:
        """Train on the output of `read`, the head alone or with the layers below it.

        Yields the Progress after each batch, and measures, head and layers after each epoch.
        """
        plan, objective, rows = self.plan, self.objective(prefix, parts), prefix.split(parts)
        begun = None if plan.start is None else plan.start.head
        if not isinstance(prefix.states, Ragged):
            heads: Iterator[Progress | tuple[Epoch, Head]] = train(prefix.states, objective, rows, plan.settings, begun)
            if self.in_turn:
                heads = train_in_turn(prefix.states, self.examples, plan.settings)
            for found in heads:
                yield found if isinstance(found, Progress) else (found[0], found[1], None)
            return
        top = Top(self.model, plan.layer, plan.layers_trained, self.head.top_pooling(plan.pooling))
        if plan.start is not None and plan.start.top is not None:
            top.module.load_state_dict(plan.start.top.module.state_dict())
        for report in train_top(top, prefix, objective, rows, plan.settings, begun):
            yield report if isinstance(report, Progress) or plan.layers_trained else (*report[:2], None)

    def hold_out(self, predictor: Predictor, prefix: Prefix, parts: Split, last: Epoch) -> HeldOut:
        """The held-out examples with the predictor's output; under leave-one-out, with that of the `last` epoch's heads."""
        rows = prefix.split(parts).held_out
        scores = last.scores if self.in_turn else None
        if scores is None:
            scores = predictor.head.outputs(predictor.vectors(prefix, rows))
        return self.head.hold_out(self.examples, prefix, rows, scores)
