"""The plan of a training, and its result: a head and the trained layers below it, and how it went.

Each kind of head has a subclass of Predictor with all that is its own, in the modules texts, words and answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.layers import EVERY_TOKEN, Prefix, Top
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.head import Classes, Head, Objective
from explorer.training.settings import TrainingSettings

INDICES = ("targets", "sentences")  # fields of held-out examples that are int64 arrays
CORRELATIONS = ("spearman", "pearson")  # measures from -1 to 1; the others, except the loss, are from 0 to 1


@dataclass(frozen=True, eq=False)
class HeldOut(ABC):
    """The held-out examples, and the head's output for them; each kind of head has its own subclass."""

    arrays: ClassVar[tuple[str, ...]]  # fields that are float32 arrays, stored beside the weights; the others fit into JSON

    @property
    @abstractmethod
    def pairs(self) -> list[Pair]:
        """What the model read: a text or a pair for each example."""

    def as_json(self) -> dict[str, Any]:
        """All fields except the arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in self.arrays}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    @classmethod
    def read(cls, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `as_json`, with the arrays by name; older runs have others. Raises TypeError or ValueError."""
        known = {field.name for field in fields(cls)} - set(cls.arrays)
        kept = {name: np.array(about[name], np.int64) if name in INDICES else tuple(about[name]) for name in known}
        return cls(**kept, **{name: array for name, array in arrays.items() if name in cls.arrays})


@dataclass(frozen=True, eq=False)
class HeldOutPairs(HeldOut):
    texts: tuple[str, ...]
    texts_b: tuple[str, ...]  # '' where there is none

    @property
    def pairs(self) -> list[Pair]:
        return list(zip(self.texts, self.texts_b, strict=True))


@dataclass(frozen=True, eq=False)
class HeldOutLabels(HeldOut):
    targets: np.ndarray  # [rows] int64, indices of labels
    probabilities: np.ndarray  # [rows, labels]

    arrays: ClassVar[tuple[str, ...]] = ("probabilities",)

    @cached_property
    def said(self) -> np.ndarray:
        """[rows] indices of the most probable labels."""
        return self.probabilities.argmax(-1)

    @property
    def hits(self) -> np.ndarray:
        """[rows] bool: whether the most probable label is the right one."""
        return self.said == self.targets


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A head over one hidden state of a model; `top` holds the trained copy of the layers below it, or None."""

    labels: tuple[str, ...]  # one per score of the head
    head: Head
    model: str  # by name
    layer: int  # index of the hidden state that the head reads: 0 to the number of layers
    pooling: str  # how the head's vectors are made from the hidden states
    top: Top | None = None

    kind: ClassVar[str]  # in files and on the page
    learns: ClassVar[type]  # the class of its examples
    record: ClassVar[type[HeldOut]]  # the class of its held-out examples
    does: ClassVar[str]  # for an error message,
    asked_by: ClassVar[str]  # and what uses it: an endpoint, or the page
    measures: ClassVar[tuple[str, ...]] = ("loss", "accuracy", "macro_f1")  # of an epoch; the second is the one that decides
    poolings: ClassVar[tuple[str, ...]]
    every_token: ClassVar[bool] = False  # whether the layers below the head give the vectors of all tokens, whatever the pooling
    own_labels: ClassVar[tuple[str, ...]] = ()  # the fixed labels of a kind that does not take them from the examples
    samples: ClassVar[Sequence[Any]] = (("a word, or two", ""), ("one", "and another"))  # scored to try an uploaded one
    auto_class: ClassVar[str]  # the class of transformers with such a head,
    opened_by: ClassVar[str]  # a line of Python that opens its checkpoint in FOLDER,
    standard_poolings: ClassVar[tuple[str, ...]] = ("cls", "pooler")  # and the poolings that the class has too

    @classmethod
    def inputs(cls, examples: Any) -> Sequence[Any]:
        """What the predictor reads, one for each example."""
        return examples.pairs

    @classmethod
    @abstractmethod
    def read(cls, model: Explorer, inputs: Sequence[Any], reads: Reads) -> Generator[float, None, Prefix]:
        """The output of the frozen layers; yields the share done, 0 to 1. Raises InputError for what cannot be read."""

    @classmethod
    def objective(cls, examples: Any, prefix: Prefix, parts: Split) -> Objective:
        """The loss and the measures of what is scored; by default each has one of the labels."""
        return Classes(examples.targets[prefix.targets], len(examples.classes))

    @classmethod
    @abstractmethod
    def hold_out(cls, examples: Any, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOut:
        """The record of the held-out `rows` of the prefix, by the head's `scores` [scored, outputs] of them."""

    @classmethod
    @abstractmethod
    def baselines(cls, examples: Any, parts: Split) -> dict[str, float]:
        """The scores of simple methods without BERT on the held-out examples, by name."""

    def vectors(self, prefix: Prefix, rows: np.ndarray | None = None) -> np.ndarray:
        """[scored, hidden] float32: what the head reads of these rows, or of all."""
        rows = np.arange(len(prefix.example)) if rows is None else rows
        return prefix.vectors(self.top, torch.from_numpy(rows)).numpy()

    def scores(self, model: Explorer, inputs: Sequence[Any]) -> np.ndarray:
        """[scored, labels] of inputs, with the model on which the head was trained."""
        return self.head.outputs(self.vectors(finished(self.read(model, inputs, self))))

    @classmethod
    def top_pooling(cls, pooling: str) -> str:
        """What the trained layers below the head do with the vectors of the tokens, given the head's pooling."""
        return EVERY_TOKEN if cls.every_token else pooling

    @property
    def layers_trained(self) -> int:
        return len(self.top.layers) if self.top else 0


@dataclass(frozen=True)
class TrainingPlan:
    """What to train: a head on the hidden state `layer` (an index), with the `layers_trained` layers below it."""

    layer: int
    pooling: str
    layers_trained: int = 0
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    keep_best: bool = False  # keep the epoch that scores best on the held-out examples; otherwise the last
    start: Predictor | None = None  # to go on from; otherwise a new head on BERT's own layers


Reads = TrainingPlan | Predictor
"""What a head reads: its `layer` and `pooling`, above `layers_trained`."""


def name_measure(measure: str) -> str:
    return measure.capitalize() if measure in CORRELATIONS else measure.replace("_", " ").replace("f1", "F1")


def write_measure(measure: str, value: float) -> str:
    """A measure with its name, formatted by its range."""
    return f"{name_measure(measure)} " + (f"correlation {value:.2f}" if measure in CORRELATIONS else f"{value:.1%}")


@dataclass(frozen=True, eq=False)
class Run:
    """One training: the predictor, how it was trained, and how it went."""

    predictor: Predictor
    title: str
    settings: dict[str, Any]
    history: list[dict[str, float]]  # one entry per epoch
    best: int  # index of the epoch that was kept, in the history
    held_out: HeldOut | None = None  # None for an uploaded run
    baselines: dict[str, float] = field(default_factory=dict)  # scores of simple methods on the held-out examples, by name
    learned: HeldOut | None = None  # few texts that layers were trained on, for the map
    id: str = ""
    created: float = 0.0  # seconds since 1970

    @property
    def kind(self) -> str:
        return self.predictor.kind

    @property
    def measure(self) -> str:
        """The name of the measure that decides."""
        return self.predictor.measures[1]

    @property
    def score(self) -> float:
        """The deciding measure on the held-out examples, at the epoch that was kept; 0 without a history."""
        return self.history[self.best][f"held_out_{self.measure}"] if self.history else 0.0

    @property
    def records(self) -> dict[str, HeldOut]:
        """The examples that it keeps, by name."""
        every = {"held_out": self.held_out, "learned": self.learned}
        return {name: record for name, record in every.items() if record is not None}

    def as_json(self) -> dict[str, Any]:
        """All fields except arrays and weights."""
        about = {name: getattr(self, name) for name in ("title", "settings", "history", "best", "baselines", "created", "kind")}
        for name in ("model", "layer", "pooling", "layers_trained"):
            about[name] = getattr(self.predictor, name)
        about |= {"measure": self.measure, "labels": list(self.predictor.labels), "held_out": None}
        return about | {name: record.as_json() for name, record in self.records.items()}


Kind = TypeVar("Kind")


def as_kind(value: object, kind: type[Kind]) -> Kind:
    """A run's predictor or its held-out examples, typed. Raises InputError where they are of another kind, or there are none."""
    if isinstance(value, kind):
        return value
    if isinstance(value, Predictor):
        raise InputError(f"This head {value.does}. Use {value.asked_by}.")
    raise InputError(f"This run has no {kind.__name__}: it is of another kind, or came in a file, which has no sentences.")
