"""A predictor that tags words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.prefix import encoded_hidden_in_steps
from explorer.training.word_vectors import PIECES, ReadWords, Words, pool_words, word_vectors

SAMPLES = (("a", "word", "or", "two"), ("unbelievable", "!"))


class Tagger(Predictor):
    """Gives every word a tag. `pooling` is "first", the first piece of a word, or "mean", the mean of its pieces."""

    kind = "tags"
    measures = ("loss", "accuracy", "macro_f1")
    poolings = PIECES
    every_token = True

    def sample(self, model: Explorer) -> np.ndarray:
        """[words, labels] scores of a few sample words."""
        return self.head.outputs(self._vectors(model, ReadWords.of(model, SAMPLES)))

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
        if self.top is None:
            return word_vectors(model, read, self.layer, self.pooling)
        states = finished(encoded_hidden_in_steps(model, read.encoded, self.layer - self.layers_trained))
        given = evaluate(self.top, states, torch.arange(len(read.encodings)))
        return TopWords.of(read, states.lengths.numpy()).pool(given, torch.arange(len(read.encodings)), self.pooling).numpy()


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
