"""The result of a training: a head, the trained layers below it if there are any, and how to use both for texts and for words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import POOLINGS, features_in_steps
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.prefix import EVERY_TOKEN, encoded_hidden_in_steps, hidden_in_steps
from explorer.finetune.compute.top_layers import Top
from explorer.text.lines import Pair
from explorer.training.head import Head
from explorer.training.word_vectors import PIECES, ReadWords, Words, pool_words


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

    @abstractmethod
    def sample(self, model: Explorer) -> np.ndarray:
        """Scores of one or two sample texts: all must be finite for an uploaded predictor to be accepted."""

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


SAMPLE_WORDS = (("a", "word", "or", "two"), ("unbelievable", "!"))
SAMPLES = (("a word, or two", ""), ("one", "and another"))


class TextPredictor(Predictor):
    """A predictor with one vector per text or pair."""

    poolings = POOLINGS

    def sample(self, model: Explorer) -> np.ndarray:
        """[2, labels] scores of a sample text and a sample pair."""
        return self.head.outputs(self.vectors(model, SAMPLES))

    def vectors(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, hidden] float32: the vector of every text or pair that the head reads."""
        if self.top is None:
            return finished(features_in_steps(model, pairs, self.layer, self.pooling))
        states = finished(hidden_in_steps(model, pairs, self.layer - self.layers_trained))
        return evaluate(self.top, states, torch.arange(len(pairs))).numpy()


class Classifier(TextPredictor):
    """Chooses one of several labels for a text or a pair."""

    kind = "classes"
    measures = ("loss", "accuracy", "macro_f1")

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities for texts or pairs, with the model on which it was trained."""
        return self.head.probabilities(self.vectors(model, pairs))


class Regressor(TextPredictor):
    """Estimates a number for a text or a pair."""

    kind = "number"
    measures = ("loss", "spearman", "pearson")
    own_labels = ("number",)

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.head.outputs(self.vectors(model, pairs))[:, 0]


class Tagger(Predictor):
    """Gives every word a tag. `pooling` is "first", the first piece of a word, or "mean", the mean of its pieces."""

    kind = "tags"
    measures = ("loss", "accuracy", "macro_f1")
    poolings = PIECES
    every_token = True

    def sample(self, model: Explorer) -> np.ndarray:
        """[words, labels] scores of a few sample words."""
        return self.head.outputs(self._vectors(model, ReadWords.of(model, SAMPLE_WORDS)))

    def tag(self, model: Explorer, sentences: Sequence[Words]) -> list[np.ndarray]:
        """For each sentence the probabilities [words, labels] of its words; of a long sentence only the beginning is read.

        Raises InputError for a sentence or word that the model cannot read.
        """
        read = ReadWords.of(model, sentences)
        there = read.are_read(read.lengths)
        shares = self.head.probabilities(self._vectors(model, read))
        counts = np.bincount(read.sentence[there], minlength=len(sentences))
        _check_gaps(read, there, counts)
        return np.split(shares, np.cumsum(counts)[:-1])

    def _vectors(self, model: Explorer, read: ReadWords) -> np.ndarray:
        """[words, hidden] float32: the vectors of all words that the model reads."""
        states = finished(encoded_hidden_in_steps(model, read.encoded, self.layer - self.layers_trained))
        rows = torch.arange(len(read.encodings))
        given = evaluate(self.top or Top(model, self.layer, 0, EVERY_TOKEN).eval(), states, rows)
        return TopWords.of(read, states.lengths.numpy()).pool(given, rows, self.pooling).numpy()


def _check_gaps(read: ReadWords, there: np.ndarray, counts: np.ndarray) -> None:
    """Raise InputError when a word is not read although there is room for it."""
    cut = np.array([encoding.total > encoding.kept for encoding in read.encodings])
    place = np.arange(len(there)) - np.searchsorted(read.sentence, read.sentence)
    wrong = ~there & (~cut[read.sentence] | (place < counts[read.sentence]))
    if wrong.any():
        number, sentence = int(place[wrong][0]) + 1, int(read.sentence[wrong][0]) + 1
        raise InputError(f"Word {number} of text {sentence} holds nothing that BERT can read; change it.")


@dataclass(frozen=True)
class TopWords:
    """The positions of the words that are read, when whole sentences go through the layers together."""

    starts: torch.Tensor  # [sentences] index of its first word among all that are read
    counts: torch.Tensor  # [sentences] number of its words
    lengths: torch.Tensor  # [sentences] number of tokens
    first: torch.Tensor  # [words]
    last: torch.Tensor

    @classmethod
    def of(cls, read: ReadWords, lengths: np.ndarray) -> TopWords:
        """The positions of the words that are read when the sentences are cut to `lengths` [sentences] tokens."""
        there = read.are_read(lengths)
        counts = np.bincount(read.sentence[there], minlength=len(lengths))
        last = np.minimum(read.last, lengths[read.sentence] - 2)[there]
        arrays = (np.cumsum(counts) - counts, counts, np.asarray(lengths), read.first[there], last)
        return cls(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))

    def words(self, rows: torch.Tensor) -> torch.Tensor:
        """The indices, among all words read, of those in the sentences `rows`, in their order."""
        counts = self.counts[rows]
        before = counts.cumsum(0) - counts
        return torch.arange(int(counts.sum())) + (self.starts[rows] - before).repeat_interleave(counts)

    def pool(self, given: torch.Tensor, rows: torch.Tensor, pieces: str) -> torch.Tensor:
        """[words, hidden] from the vectors of all tokens of the sentences `rows`, sentence after sentence."""
        words, lengths = self.words(rows), self.lengths[rows]
        shift = (lengths.cumsum(0) - lengths).repeat_interleave(self.counts[rows])
        return pool_words(given, self.first[words] + shift, self.last[words] + shift, pieces)
