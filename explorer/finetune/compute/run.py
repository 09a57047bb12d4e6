"""The record of a training. Nothing here imports torch."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from explorer.analysis.evaluation import EntityScores, by_sentence, entity_scores
from explorer.core.errors import InputError
from explorer.finetune.compute.predictor import Predictor
from explorer.text.lines import Pair

CORRELATIONS = ("spearman", "pearson")  # measures from -1 to 1; the others, except the loss, are from 0 to 1


@dataclass(frozen=True, eq=False)
class HeldOut(ABC):
    """The held-out examples, and the predictor's output for them; each kind of task has its own subclass."""

    arrays: ClassVar[tuple[str, ...]]  # fields that are float32 arrays, stored beside the weights; the others fit into JSON
    indices: ClassVar[tuple[str, ...]] = ()  # fields that are int64 arrays

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
        kept = {name: np.array(about[name], np.int64) if name in cls.indices else tuple(about[name]) for name in known}
        return cls(**kept, **{name: array for name, array in arrays.items() if name in cls.arrays})


@dataclass(frozen=True, eq=False)
class HeldOutPairs(HeldOut):
    """Held-out texts or pairs."""

    texts: tuple[str, ...]
    texts_b: tuple[str, ...]  # '' where there is none

    @property
    def pairs(self) -> list[Pair]:
        return list(zip(self.texts, self.texts_b, strict=True))


class HeldOutLabels(HeldOut):
    """Held-out examples with one of several labels each."""

    targets: np.ndarray  # [rows] int64, indices of labels
    probabilities: np.ndarray  # [rows, labels]

    @cached_property
    def said(self) -> np.ndarray:
        """[rows] indices of the most probable labels."""
        return self.probabilities.argmax(-1)


@dataclass(frozen=True, eq=False)
class HeldOutTexts(HeldOutPairs, HeldOutLabels):
    """Held-out texts or pairs with a label each."""

    targets: np.ndarray
    probabilities: np.ndarray
    epochs: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    """[epochs, examples, labels]: the probabilities after each epoch, where layers were trained on few examples."""

    arrays = ("probabilities", "epochs")
    indices = ("targets",)


@dataclass(frozen=True, eq=False)
class HeldOutNumbers(HeldOutPairs):
    """Held-out texts or pairs with a number each."""

    targets: np.ndarray  # [examples]
    said: np.ndarray  # [examples]

    arrays = ("targets", "said")


@dataclass(frozen=True, eq=False)
class HeldOutTags(HeldOutLabels):
    """The words of held-out sentences with a tag each, sentence after sentence."""

    words: tuple[str, ...]
    sentences: np.ndarray  # [words] int64, equal for the words of one sentence
    targets: np.ndarray
    probabilities: np.ndarray

    arrays = ("probabilities",)
    indices = ("sentences", "targets")

    @property
    def pairs(self) -> list[Pair]:
        return [(" ".join(words), "") for words in by_sentence(self.sentences, self.words)]

    def entities(self, labels: Sequence[str]) -> list[EntityScores]:
        """How well whole entities are found, overall and by type; [] when the words contain none."""
        right, said = (by_sentence(self.sentences, [labels[row] for row in rows]) for rows in (self.targets, self.said))
        return entity_scores(right, said)


@dataclass(frozen=True, eq=False)
class HeldOutAnswers(HeldOut):
    """Held-out questions on texts, with the predicted answers."""

    questions: tuple[str, ...]
    texts: tuple[str, ...]
    accepted: tuple[list[str], ...]  # the correct answers, empty where the text has none
    said: tuple[str, ...]  # predicted; '' is no answer
    scores: np.ndarray  # [questions, 2] shares of the best span and of no answer, 0 to 1

    arrays = ("scores",)

    @property
    def pairs(self) -> list[Pair]:
        return list(zip(self.questions, self.texts, strict=True))


def told(measure: str, value: float) -> str:
    """A measure with its name, formatted by its range."""
    if measure in CORRELATIONS:
        return f"{measure.capitalize()} correlation {value:.2f}"
    return f"{measure.replace('_', ' ').replace('f1', 'F1')} {value:.1%}"


Held = TypeVar("Held", bound=HeldOut)


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
    id: str = ""
    created: float = 0.0  # seconds since 1970

    def held(self, kind: type[Held]) -> Held:
        """The held-out examples, typed for a kind of task. Raises InputError where there are none, or of another kind."""
        if self.held_out is None:
            raise InputError("This run came in a file, which holds no sentences to look at.")
        if not isinstance(self.held_out, kind):
            raise InputError(f"This run is of another kind: it holds {type(self.held_out).__name__}, not {kind.__name__}.")
        return self.held_out

    @property
    def kind(self) -> str:
        """The kind of task."""
        return self.predictor.kind

    @property
    def measure(self) -> str:
        """The name of the measure that decides."""
        return self.predictor.measures[1]

    @property
    def score(self) -> float:
        """The deciding measure on the held-out examples, at the epoch that was kept; 0 without a history."""
        return self.history[self.best][f"held_out_{self.measure}"] if self.history else 0.0

    def as_json(self) -> dict[str, Any]:
        """All fields except arrays and weights."""
        about = {name: getattr(self, name) for name in ("title", "settings", "history", "best", "baselines", "created", "kind")}
        for name in ("model", "layer", "pooling", "layers_trained"):
            about[name] = getattr(self.predictor, name)
        held = self.held_out and self.held_out.as_json()
        return {**about, "measure": self.measure, "labels": list(self.predictor.labels), "held_out": held}
