"""Training a tagger: a tag for every word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.finetune.compute.predictor import Predictor, Tagger
from explorer.finetune.compute.prefix import Prefix
from explorer.finetune.compute.run import HeldOutTags
from explorer.finetune.compute.task import Task
from explorer.training.examples import Split
from explorer.training.objectives import Classes
from explorer.training.tagging import TaggedExamples, split_sentences, tag_baselines
from explorer.training.word_vectors import Words


class Tagging(Task[TaggedExamples]):
    """Training a tag for every word. A share of the sentences is held out; words beyond the model's length are left out.

    Batches are made of words for a head alone, of sentences to train layers.
    """

    predictor = Tagger

    def split(self) -> Split:
        return split_sentences(self.examples, self.plan.settings.seed, self.plan.settings.held_out)

    @property
    def inputs(self) -> Sequence[Words]:
        return [sentence.words for sentence in self.examples.sentences]

    def labels(self) -> tuple[str, ...]:
        return tuple(self.examples.classes)

    def objective(self, prefix: Prefix, parts: Split) -> Classes:
        """Cross-entropy of the tags."""
        return Classes(self.examples.targets[prefix.targets], len(self.examples.classes))

    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOutTags:
        """The held-out words, their tags, and the probabilities of all tags."""
        words = np.intersect1d(prefix.targets, self._words(parts)[1])
        return HeldOutTags(
            words=tuple(self.examples.words[word] for word in words),
            sentences=self.examples.sentence_of[words],
            targets=self.examples.targets[words],
            probabilities=predictor.head.probabilities(predictor.vectors(prefix, prefix.split(parts).held_out)),
        )

    def baselines(self, parts: Split) -> dict[str, float]:
        """The accuracy over words of the most frequent tag and of a word memory."""
        return tag_baselines(self.examples, *self._words(parts))

    def _words(self, parts: Split) -> Split:
        """The split in terms of words."""
        return Split(*(np.flatnonzero(np.isin(self.examples.sentence_of, rows)) for rows in parts))
