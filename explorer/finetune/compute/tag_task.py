"""Training a tagger: a tag for every word."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import torch
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.predictor import Predictor, Tagger, TopWords
from explorer.finetune.compute.prefix import EVERY_TOKEN, Ragged, encoded_hidden_in_steps
from explorer.finetune.compute.run import HeldOutTags
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.top_layers import Top
from explorer.training.examples import Split
from explorer.training.objectives import Classes
from explorer.training.tagging import TaggedExamples, split_sentences, tag_baselines
from explorer.training.word_vectors import ReadWords


@dataclass(frozen=True)
class Below:
    """The words that the model reads, by their indices among all words, and what the frozen layers make of them.

    `states` are their vectors [words read, hidden] when only a head is trained; otherwise the hidden states of all tokens of
    every sentence, in which `places` finds the words.
    """

    words: np.ndarray
    states: np.ndarray | Ragged
    places: TopWords | None = None


class TagsOfSentences(Classes):
    """The objective for tags when the encoder gives the vectors of all tokens: rows are sentences."""

    def __init__(self, targets: np.ndarray, labels: int, trained_on: np.ndarray, places: TopWords, pieces: str) -> None:
        super().__init__(targets, labels, trained_on, False)
        self._places, self._pieces = places, pieces

    def vectors(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[words, hidden] of the sentences, in order."""
        return self._places.pool(given, rows, self._pieces)

    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean over the words."""
        return super().loss(scores, self._places.words(rows))

    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """The measures over words."""
        return super().measure(scores, self._places.words(rows))


class Tagging(Task[TaggedExamples]):
    """Training a tag for every word. A share of the sentences is held out; words beyond the model's length are left out."""

    predictor = Tagger

    def split(self) -> Split:
        return split_sentences(self.examples, self.plan.settings.seed, self.plan.settings.held_out)

    def read(self) -> Generator[float, None, Below]:
        """Vectors of all words or, to train layers, the hidden states of all tokens below them."""
        plan = self.plan
        read = ReadWords.of(self.model, [sentence.words for sentence in self.examples.sentences])
        states = yield from encoded_hidden_in_steps(self.model, read.encoded, plan.layer - plan.layers_trained)
        lengths = states.lengths.numpy()
        words, places = np.flatnonzero(read.are_read(lengths)), TopWords.of(read, lengths)
        if plan.layers_trained:
            return Below(words, states, places)
        rows = torch.arange(len(read.encodings))
        given = evaluate(Top(self.model, plan.layer, 0, EVERY_TOKEN).eval(), states, rows)
        return Below(words, places.pool(given, rows, plan.pooling).numpy())

    def labels(self) -> tuple[str, ...]:
        return tuple(self.examples.classes)

    def rows(self, below: Below, parts: Split) -> Split:
        """Words for a head alone; sentences to train layers."""
        return parts if below.places is not None else self._words(below, parts)

    def objective(self, below: Below, parts: Split) -> Classes:
        """Cross-entropy of the tags."""
        targets, trained_on = self.examples.targets[below.words], self._words(below, parts).train
        if below.places is None:
            return Classes(targets, len(self.examples.classes), trained_on, False)
        return TagsOfSentences(targets, len(self.examples.classes), trained_on, below.places, self.plan.pooling)

    def held_out(self, predictor: Predictor, below: Below, parts: Split) -> HeldOutTags:
        """The held-out words, their tags, and the probabilities of all tags."""
        words = below.words[self._words(below, parts).held_out]
        return HeldOutTags(
            words=tuple(self.examples.words[word] for word in words),
            sentences=self.examples.sentence_of[words],
            targets=self.examples.targets[words],
            probabilities=predictor.head.probabilities(self.vectors(predictor, below, parts)),
        )

    def baselines(self, parts: Split) -> dict[str, float]:
        """The accuracy over words of the most frequent tag and of a word memory."""
        words = (np.flatnonzero(np.isin(self.examples.sentence_of, rows)) for rows in parts)
        return tag_baselines(self.examples, *words)

    def _words(self, below: Below, parts: Split) -> Split:
        """The split in terms of words: indices among the words that the model reads."""
        sentences = self.examples.sentence_of[below.words]
        return Split(*(np.flatnonzero(np.isin(sentences, rows)) for rows in parts))
