"""The result of a training: a head, the trained layers below it if there are any, and how to use both for texts and for words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import POOLINGS
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.many import hidden_states, text_features
from explorer.finetune.compute.prefix import EVERY_TOKEN, Prefix, Ragged, encoded_hidden_in_steps
from explorer.finetune.compute.top_layers import Top
from explorer.text.encoding import Encoding
from explorer.text.lines import Pair
from explorer.training.head import Head
from explorer.training.word_vectors import PIECES, WordPlaces, Words, read_words


class Reads(Protocol):
    """What a head reads, in a plan or a predictor: see `Predictor`."""

    @property
    def layer(self) -> int: ...
    @property
    def pooling(self) -> str: ...
    @property
    def layers_trained(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A head over one hidden state of a model; `top` holds the trained copy of the layers below it, or None."""

    labels: tuple[str, ...]  # one per score of the head
    head: Head
    model: str  # by name
    layer: int  # index of the hidden state that the head reads: 0 to the number of layers
    pooling: str  # how the head's vectors are made from the hidden states
    top: Top | None = None

    kind: ClassVar[str]  # of task, in files and on the page
    measures: ClassVar[tuple[str, ...]]  # the measures of an epoch; the second is the one that decides
    poolings: ClassVar[tuple[str, ...]]
    every_token: ClassVar[bool] = False  # whether the layers below the head give the vectors of all tokens, whatever the pooling
    own_labels: ClassVar[tuple[str, ...]] = ()  # the fixed labels of a kind that does not take them from the examples
    samples: ClassVar[Sequence[Any]] = (("a word, or two", ""), ("one", "and another"))

    @classmethod
    @abstractmethod
    def read(cls, model: Explorer, inputs: Sequence[Any], reads: Reads) -> Generator[float, None, Prefix]:
        """The output of the frozen layers; yields the share done, 0 to 1. Raises InputError for what cannot be read."""

    def vectors(self, prefix: Prefix, rows: np.ndarray | None = None) -> np.ndarray:
        """[scored, hidden] float32: what the head reads of these rows, or of all."""
        rows = np.arange(len(prefix.example)) if rows is None else rows
        if not isinstance(states := prefix.states, Ragged):
            return states[rows]
        chosen = torch.from_numpy(rows)
        given = evaluate(self.top, states, chosen) if self.top else states.tokens(chosen)
        return prefix.select(given, chosen).numpy()

    def scores(self, model: Explorer, inputs: Sequence[Any]) -> np.ndarray:
        """[scored, labels] of inputs, with the model on which the head was trained."""
        return self.head.outputs(self.vectors(finished(self.read(model, inputs, self))))

    def sample(self, model: Explorer) -> np.ndarray:
        """Scores of one or two sample texts: all must be finite for an uploaded predictor to be accepted."""
        return self.scores(model, self.samples)

    @classmethod
    def top_pooling(cls, pooling: str) -> str:
        """What the trained layers below the head do with the vectors of the tokens, given the head's pooling."""
        return EVERY_TOKEN if cls.every_token else pooling

    @property
    def layers_trained(self) -> int:
        """The number of layers that were trained with the head."""
        return len(self.top.layers) if self.top else 0


Kind = TypeVar("Kind", bound=Predictor)


def of_kind(predictor: Predictor, kind: type[Kind]) -> Kind:
    """The predictor, typed as one of this kind. Raises InputError when it is of another."""
    if not isinstance(predictor, kind):
        raise InputError(f"This run is of another kind: it has a {type(predictor).__name__}, not a {kind.__name__}.")
    return predictor


class TextPredictor(Predictor):
    """A predictor with one vector per text or pair."""

    poolings = POOLINGS

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Pair], reads: Reads) -> Generator[float, None, Prefix]:
        """Vectors of the texts, or the hidden states below the trained layers."""
        states: np.ndarray | Ragged
        if reads.layers_trained:
            states = yield from hidden_states(model, inputs, reads.layer - reads.layers_trained)
        else:
            states = yield from text_features(model, inputs, reads.layer, reads.pooling)
        return Prefix(states, every := np.arange(len(inputs)), every)


class Classifier(TextPredictor):
    """Chooses one of several labels for a text or a pair."""

    kind = "classes"
    measures = ("loss", "accuracy", "macro_f1")

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities for texts or pairs, with the model on which it was trained."""
        return self.head.probabilities(self.vectors(finished(self.read(model, pairs, self))))


class Regressor(TextPredictor):
    """Estimates a number for a text or a pair."""

    kind = "number"
    measures = ("loss", "spearman", "pearson")
    own_labels = ("number",)

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.scores(model, pairs)[:, 0]


class Tagger(Predictor):
    """Gives every word a tag. `pooling` is "first", the first piece of a word, or "mean", the mean of its pieces."""

    kind = "tags"
    measures = ("loss", "accuracy", "macro_f1")
    poolings = PIECES
    every_token = True
    samples = (("a", "word", "or", "two"), ("unbelievable", "!"))

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Words], reads: Reads) -> Generator[float, None, Prefix]:
        """Vectors of all words or, below trained layers, the hidden states of all tokens. Long sentences are cut."""
        return (yield from cls._read(model, *read_words(model, inputs), reads))

    @classmethod
    def _read(
        cls, model: Explorer, encodings: Sequence[Encoding], places: Sequence[np.ndarray], reads: Reads
    ) -> Generator[float, None, Prefix]:
        encoded = [(encoding.ids, encoding.segments) for encoding in encodings]
        states = yield from encoded_hidden_in_steps(model, encoded, reads.layer - reads.layers_trained)
        words, sentences = WordPlaces.of(places, states.lengths, reads.pooling), np.arange(len(encodings))
        if reads.layers_trained:
            return Prefix(states, sentences, words.read, words)
        rows = torch.from_numpy(sentences)
        return Prefix(words.pool(states.tokens(rows), rows).numpy(), words.sentence, words.read)

    def tag(self, model: Explorer, sentences: Sequence[Words]) -> list[np.ndarray]:
        """For each sentence the probabilities [words, labels] of its words; of a long sentence only the beginning is read.

        Raises InputError for a sentence or word that the model cannot read.
        """
        encodings, places = read_words(model, sentences)
        _check_gaps(encodings, places)
        prefix = finished(self._read(model, encodings, places, self))
        counts = [int((spans[:, 0] >= 0).sum()) for spans in places]
        return np.split(self.head.probabilities(self.vectors(prefix)), np.cumsum(counts)[:-1])


def _check_gaps(encodings: Sequence[Encoding], places: Sequence[np.ndarray]) -> None:
    """Raise InputError when a word is not read although there is room for it."""
    for sentence, (encoding, spans) in enumerate(zip(encodings, places, strict=True), start=1):
        unread = np.flatnonzero(spans[:, 0] < 0)
        if encoding.total > encoding.kept:  # the words at the end have no room
            unread = unread[unread < len(spans) - len(unread)]
        if len(unread):
            raise InputError(f"Word {unread[0] + 1} of text {sentence} holds nothing that BERT can read; change it.")
