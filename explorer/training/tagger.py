"""A predictor that gives every word a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.base.engine import torch
from explorer.base.errors import InputError
from explorer.base.steps import finished
from explorer.model.explorer import Explorer
from explorer.training.finetune import evaluate
from explorer.training.predictor import Predictor
from explorer.training.prefix import encoded_hidden_in_steps
from explorer.training.word_vectors import PIECES, ReadWords, Words, pool_words, word_vectors

SAMPLES = (("a", "word", "or", "two"), ("unbelievable", "!"))


class Tagger(Predictor):
    """Which tag every word has. `pooling` is "first", the first piece of a word, or "mean", the mean of its pieces."""

    kind = "tags"
    measures = ("loss", "accuracy", "macro_f1")
    poolings = PIECES
    every_token = True

    def sample(self, model: Explorer) -> np.ndarray:
        """[words, labels] scores of a few words."""
        return self.head.outputs(self._vectors(model, ReadWords.of(model, SAMPLES)))

    def tag(self, model: Explorer, sentences: Sequence[Words]) -> list[np.ndarray]:
        """For each sentence the probabilities [words, labels] of its words, as many as the model reads of a long one.

        Raises InputError for what the model cannot read.
        """
        read = ReadWords.of(model, sentences)
        there = read.are_read(read.lengths)
        shares = self.head.probabilities(self._vectors(model, read))
        counts = np.bincount(read.sentence[there], minlength=len(sentences))
        _check_gaps(read, there, counts)
        return np.split(shares, np.cumsum(counts)[:-1])

    def _vectors(self, model: Explorer, read: ReadWords) -> np.ndarray:
        """[words, hidden] float32: what the head reads of every word that the model reads."""
        if self.top is None:
            return word_vectors(model, read, self.layer, self.pooling)
        states = finished(encoded_hidden_in_steps(model, read.encoded, self.layer - self.layers_trained))
        given = evaluate(self.top, states, torch.arange(len(read.encodings)))
        return TopWords.of(read, states.lengths.numpy()).pool(given, torch.arange(len(read.encodings)), self.pooling).numpy()


def _check_gaps(read: ReadWords, there: np.ndarray, counts: np.ndarray) -> None:
    """Raises InputError when a word is not read though there is room for it."""
    cut = np.array([encoding.total > encoding.kept for encoding in read.encodings])
    place = np.arange(len(there)) - np.searchsorted(read.sentence, read.sentence)
    wrong = ~there & (~cut[read.sentence] | (place < counts[read.sentence]))
    if wrong.any():
        number, sentence = int(place[wrong][0]) + 1, int(read.sentence[wrong][0]) + 1
        raise InputError(f"Word {number} of text {sentence} holds nothing that BERT can read; change it.")


@dataclass(frozen=True)
class TopWords:
    """Where the words that are read stand, when whole sentences go through the layers together."""

    starts: torch.Tensor  # [sentences] where its words begin among all that are read
    counts: torch.Tensor  # [sentences] how many it has
    lengths: torch.Tensor  # [sentences] tokens
    first: torch.Tensor  # [words]
    last: torch.Tensor

    @classmethod
    def of(cls, read: ReadWords, lengths: np.ndarray) -> TopWords:
        """Of the words that are read when so many tokens [sentences] are."""
        there = read.are_read(lengths)
        counts = np.bincount(read.sentence[there], minlength=len(lengths))
        last = np.minimum(read.last, lengths[read.sentence] - 2)[there]
        arrays = (np.cumsum(counts) - counts, counts, np.asarray(lengths), read.first[there], last)
        return cls(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))

    def words(self, rows: torch.Tensor) -> torch.Tensor:
        """Which of all words that are read stand in the sentences `rows`, in their order."""
        counts = self.counts[rows]
        before = counts.cumsum(0) - counts
        return torch.arange(int(counts.sum())) + (self.starts[rows] - before).repeat_interleave(counts)

    def pool(self, given: torch.Tensor, rows: torch.Tensor, pieces: str) -> torch.Tensor:
        """[words, hidden] from the vectors of all tokens of the sentences `rows`, sentence after sentence."""
        words, lengths = self.words(rows), self.lengths[rows]
        shift = (lengths.cumsum(0) - lengths).repeat_interleave(self.counts[rows])
        return pool_words(given, self.first[words] + shift, self.last[words] + shift, pieces)
