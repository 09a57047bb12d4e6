"""A plan of a training, which is checked, and what the kinds of task differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from explorer.bert.explorer import Explorer
from explorer.bert.features import LAST_FOUR
from explorer.core.errors import InputError
from explorer.core.limits import EPOCHS
from explorer.finetune.compute.finetune import Step, train, train_top
from explorer.finetune.compute.predictor import Classifier, Predictor
from explorer.finetune.compute.prefix import Prefix, Ragged
from explorer.finetune.compute.run import HeldOut
from explorer.finetune.compute.top_layers import Top
from explorer.text import limits
from explorer.training.examples import Split
from explorer.training.head import Head
from explorer.training.objectives import Objective, Solvable
from explorer.training.settings import OPTIMIZERS, Epoch, TrainingSettings

MOST_UNITS = 512
MOST_AVERAGED = 5
CHECKS: dict[str, Callable[[object], Any]] = {
    "epochs": lambda value: limits.check_integer(value, "the number of epochs", 0, EPOCHS.most),
    "learning_rate": lambda value: limits.check_number(value, "the learning rate", 1e-6, 1),
    "batch_size": lambda value: limits.check_integer(value, "the batch size", 1, 1024),
    "seed": lambda value: limits.check_integer(value, "the seed", 0, 2**31 - 1),
    "optimizer": lambda value: limits.check_choice(value, "the optimizer", OPTIMIZERS),
    "units": lambda value: limits.check_integer(value, "the number of hidden units", 0, MOST_UNITS),
    "balanced": bool,
    "regularization": lambda value: limits.check_number(value, "the regularization", 1e-6, 1e6),
    "held_out": lambda value: limits.check_number(value, "the share held out", 0.01, 0.9),
    "averaged": lambda value: limits.check_integer(value, "the number of trainings averaged", 1, MOST_AVERAGED),
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
            raise InputError("The pooler reads the last layer only; choose the last layer, or another pooling.")
    trained = limits.check_integer(layers_trained, "the number of layers trained", 0, most)
    if trained:
        model.require("own_layers")
        if pooling == LAST_FOUR:
            raise InputError("Four hidden states are read of BERT as it is; train no layers, or choose another pooling.")
    if trained > index:
        raise InputError(f"The head reads hidden state {index}, so that no more than {index} layers can be trained.")
    checked = TrainingSettings(**{name: CHECKS[name](value) for name, value in settings.items()})
    if checked.averaged > 1 and not (trained and checked.units == 0):
        raise InputError("Only trainings of layers below a linear head are averaged; train some layers, or train once.")
    return TrainingPlan(index, pooling, trained, checked, keep_best)


def go_on(model: Explorer, predictor: Predictor, settings: Mapping[str, Any]) -> TrainingPlan:
    """The plan of another training by a run's settings that goes on from its predictor. Raises InputError."""
    numbers = {name: settings[name] for name in CHECKS if name in settings}
    shape = (settings["layer"], settings["pooling"], settings["layers_trained"], settings["keep_best"])
    return replace(make_plan(model, *shape, type(predictor), **numbers), start=predictor)


Given = TypeVar("Given", bound=Sized)


@dataclass(frozen=True, eq=False)
class Task(ABC, Generic[Given]):
    """A training task. What differs between the kinds of task: what is held out, what the model reads, the objective, and what
    the predictor says of the held-out examples.
    """

    model: Explorer
    examples: Given
    plan: TrainingPlan

    predictor: ClassVar[type[Predictor]]

    def fitted(self) -> Task[Given]:
        """The task with settings left open filled in by the number of examples."""
        plan = self.plan
        return replace(self, plan=replace(plan, settings=plan.settings.fitted(len(self.examples), plan.layers_trained)))

    @abstractmethod
    def split(self) -> Split:
        """The examples to train on and those held out. Raises InputError."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[Any]:
        """What the predictor reads, one for each example."""

    def read(self) -> Generator[float, None, Prefix]:
        """The output of the frozen layers for all examples, computed once; yields the share done, 0 to 1."""
        return self.predictor.read(self.model, self.inputs, self.plan)

    @abstractmethod
    def objective(self, prefix: Prefix, parts: Split) -> Objective:
        """The loss and the measures of what is scored."""

    def labels(self) -> tuple[str, ...]:
        """The labels of the head's scores."""
        return self.predictor.own_labels

    def epochs(self, prefix: Prefix, parts: Split) -> Iterator[Step | tuple[Epoch, Head, Top | None]]:
        """Train on the output of `read`, the head alone or with the layers below it.

        Yields a Step after each batch, and measures, head and layers after each epoch.
        """
        plan, objective, rows = self.plan, self.objective(prefix, parts), prefix.split(parts)
        begun = None if plan.start is None else plan.start.head
        if not isinstance(prefix.states, Ragged):
            assert isinstance(objective, Solvable)
            yield from ((*report, None) for report in train(prefix.states, objective, rows, plan.settings, begun))
            return
        top = Top(self.model, plan.layer, plan.layers_trained, self.predictor.top_pooling(plan.pooling))
        if plan.start is not None and plan.start.top is not None:
            top.module.load_state_dict(plan.start.top.module.state_dict())
        for report in train_top(top, prefix, objective, rows, plan.settings, begun):
            yield report if isinstance(report, Step) or plan.layers_trained else (*report[:2], None)

    @abstractmethod
    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOut:
        """The held-out examples, with the predictor's output for them."""

    @abstractmethod
    def baselines(self, parts: Split) -> dict[str, float]:
        """The scores of simple methods without BERT on the held-out examples, by name."""
