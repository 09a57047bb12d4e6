"""A head that gives every word of a text a tag."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.evaluation import EntityScores, by_sentence, entity_scores
from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.steps import finished
from explorer.finetune.compute.layers import Prefix, hidden_in_steps
from explorer.finetune.compute.predictor import HeldOutLabels, Predictor, Reads
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.tagging import PIECES, TaggedExamples, WordPlaces, Words, read_words, tag_baselines


@dataclass(frozen=True, eq=False)
class HeldOutTags(HeldOutLabels):
    """The words of held-out sentences with a tag each, sentence after sentence."""

    words: tuple[str, ...]
    sentences: np.ndarray  # [words] int64, equal for the words of one sentence

    @property
    def pairs(self) -> list[Pair]:
        return [(" ".join(words), "") for words in by_sentence(self.sentences, self.words)]

    def entities(self, labels: Sequence[str]) -> list[EntityScores]:
        """How well whole entities are found, overall and by type; [] when the words contain none."""
        right, said = (by_sentence(self.sentences, [labels[row] for row in rows]) for rows in (self.targets, self.said))
        return entity_scores(right, said)


class Tagger(Predictor):
    """Gives every word a tag. `pooling` is "first", the first piece of a word, or "mean", the mean of its pieces.

    Batches are made of words for a head alone, of sentences to train layers. Words beyond the model's length are left out.
    """

    kind, does, asked_by = "tags", "tags words", "/tag"
    learns, record = TaggedExamples, HeldOutTags
    poolings = PIECES
    every_token = True
    samples = (("a", "word", "or", "two"), ("unbelievable", "!"))
    auto_class, standard_poolings = "AutoModelForTokenClassification", ("first",)
    opened_by = 'pipeline("token-classification", "FOLDER", aggregation_strategy="first")'

    @classmethod
    def inputs(cls, examples: TaggedExamples) -> Sequence[Words]:
        return [sentence.words for sentence in examples.sentences]

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Words], reads: Reads) -> Generator[float, None, Prefix]:
        """Vectors of all words or, below trained layers, the hidden states of all tokens. Long sentences are cut."""
        encodings, places = read_words(model, inputs)
        encoded = [(encoding.ids, encoding.segments) for encoding in encodings]
        states = yield from hidden_in_steps(model, encoded, reads.layer - reads.layers_trained)
        words, sentences = WordPlaces.of(places, states.lengths, reads.pooling), np.arange(len(encodings))
        if reads.layers_trained:
            return Prefix(states, sentences, words.read, words)
        rows = torch.from_numpy(sentences)
        return Prefix(words.pool(states.tokens(rows), rows).numpy(), words.sentence.numpy(), words.read)

    @classmethod
    def hold_out(cls, examples: TaggedExamples, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutTags:
        words = prefix.targets[prefix.scored(torch.from_numpy(rows)).numpy()]
        return HeldOutTags(
            words=tuple(examples.words[word] for word in words),
            sentences=examples.sentence_of[words],
            targets=examples.targets[words],
            probabilities=scipy.special.softmax(scores, axis=-1),
        )

    @classmethod
    def baselines(cls, examples: TaggedExamples, parts: Split) -> dict[str, float]:
        """The accuracy over words of the most frequent tag and of a word memory."""
        return tag_baselines(examples, *(np.flatnonzero(np.isin(examples.sentence_of, rows)) for rows in parts))

    def tag(self, model: Explorer, sentences: Sequence[Words]) -> list[np.ndarray]:
        """For each sentence the probabilities [words, labels] of its words; of a long sentence only the beginning is read.

        Raises InputError for a sentence or word that the model cannot read.
        """
        encodings, places = read_words(model, sentences)
        for number, (encoding, spans) in enumerate(zip(encodings, places, strict=True), start=1):
            unread = np.flatnonzero(spans[:, 0] < 0)
            if encoding.total > encoding.kept:  # the words at the end have no room
                unread = unread[unread < len(spans) - len(unread)]
            if len(unread):
                raise InputError(f"Word {unread[0] + 1} of text {number} has nothing that BERT can read. Change it.")
        prefix = finished(self.read(model, sentences, self))
        sentence_of = prefix.example if prefix.words is None else prefix.words.sentence.numpy()
        begins = np.searchsorted(sentence_of, np.arange(1, len(sentences)))
        return np.split(self.head.probabilities(self.vectors(prefix)), begins)
