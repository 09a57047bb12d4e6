"""The tasks for texts and pairs, classification and regression, and for words."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.finetune.compute.baselines import baselines, number_baselines, words_in_turn
from explorer.finetune.compute.finetune import Step, train
from explorer.finetune.compute.in_turn import MOST_UNKNOWNS, Heads, solve
from explorer.finetune.compute.predictor import Classifier, Predictor, Regressor, Tagger
from explorer.finetune.compute.prefix import Prefix
from explorer.finetune.compute.run import HeldOutNumbers, HeldOutTags, HeldOutTexts
from explorer.finetune.compute.task import Task, TrainingPlan
from explorer.finetune.compute.top_layers import Top
from explorer.text.lines import Pair
from explorer.training.examples import Examples, ScoredExamples, Split, leave_one_out, split
from explorer.training.head import Head
from explorer.training.objectives import Classes, Numbers, Objective
from explorer.training.settings import FEWEST_HELD_OUT, Epoch
from explorer.training.tagging import TaggedExamples, split_sentences, tag_baselines
from explorer.training.word_vectors import Words

Texts = TypeVar("Texts", bound=Examples)


class TextTask(Task[Texts]):
    """Training a head on one vector per text or pair."""

    def split(self) -> Split:
        """A share of every class, or of every fifth of the numbers, is held out."""
        return split(self.examples, self.plan.settings.seed, self.plan.settings.held_out)

    @property
    def inputs(self) -> Sequence[Pair]:
        return self.examples.pairs


class Classification(TextTask[Examples]):
    """Training to choose one of several labels for a text or a pair."""

    predictor = Classifier

    def labels(self) -> tuple[str, ...]:
        return tuple(self.examples.classes)

    def fitted(self) -> Task[Examples]:
        """The task with the settings left open filled in; for few examples and a head alone, a FewShot task."""
        settings = self.plan.settings
        few = len(self.examples) * settings.held_out < FEWEST_HELD_OUT
        if settings.epochs or self.plan.layers_trained or not few:
            return super().fitted()
        plan = replace(self.plan, settings=settings.fitted(len(self.examples), 0).for_few())
        return FewShot(self.model, self.examples, plan)

    def objective(self, prefix: Prefix, parts: Split) -> Objective:
        """Cross-entropy of the labels."""
        return Classes.of(self.examples, parts, self.plan.settings.balanced)

    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOutTexts:
        """The held-out texts, their labels and probabilities."""
        vectors, rows = predictor.vectors(prefix, parts.held_out), parts.held_out
        texts, texts_b = zip(*(self.examples.pairs[row] for row in rows), strict=True)
        return HeldOutTexts(texts, texts_b, self.examples.targets[rows], predictor.head.probabilities(vectors))

    def baselines(self, parts: Split) -> dict[str, float]:
        """The accuracy of the most frequent label, and of a bag of words."""
        return baselines(self.examples, parts)


@dataclass(frozen=True, eq=False)
class FewShot(Classification):
    """Classification of few examples with a frozen model: the final head is trained on all of them.

    It is judged by leave-one-out (Stone 1974): a fifth of 18 examples is 3, and '3 of 3 right' says little.
    """

    _scores: list[np.ndarray] = field(default_factory=list, init=False)  # [examples, labels], filled in by `epochs`

    def split(self) -> Split:
        """All examples are both trained on and held out."""
        super().split()  # raises for invalid examples
        every = np.arange(len(self.examples))
        return Split(every, every)

    def epochs(self, prefix: Prefix, parts: Split) -> Iterator[Step | tuple[Epoch, Head, Top | None]]:
        """One report, at the end: each example is scored by a head that was not trained on it."""
        vectors = prefix.states
        assert isinstance(vectors, np.ndarray)
        settings, unknowns = self.plan.settings, len(self.examples) * len(self.labels())
        if settings.optimizer == "lbfgs" and not settings.units and not settings.balanced and unknowns <= MOST_UNKNOWNS:
            heads = Heads.of(vectors, self.examples)
            scores = heads.of_left_out(solve(heads, settings.regularization)).astype(np.float32)
        else:
            scores = yield from self._one_by_one(vectors)
        self._scores.append(scores)
        head, objective, rows = self._learn(vectors, parts), self.objective(prefix, parts), torch.from_numpy(parts.train)
        trained, held_out = (objective.measure(torch.from_numpy(said), rows) for said in (head.outputs(vectors), scores))
        yield Epoch(1, trained, held_out), head, None

    def _one_by_one(self, vectors: np.ndarray) -> Generator[Step, None, np.ndarray]:
        """[examples, labels]: the scores of heads that are trained one after the other."""
        folds, start = leave_one_out(self.examples), time.perf_counter()
        scores = np.zeros((len(self.examples), len(self.labels())), dtype=np.float32)
        for done, fold in enumerate(folds, start=1):
            scores[fold.held_out] = self._learn(vectors, fold).outputs(vectors[fold.held_out])
            speed = done / (time.perf_counter() - start)
            yield Step(1, done, len(folds), (len(folds) - done) / speed, speed)
        return scores

    def _learn(self, vectors: np.ndarray, parts: Split) -> Head:
        """The trained head for some of the vectors [examples, hidden]."""
        *_, (_, head) = train(vectors, Classes.of(self.examples, parts, self.plan.settings.balanced), parts, self.plan.settings)
        return head

    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOutTexts:
        """Every example, with the probabilities of the head that was not trained on it."""
        probabilities = torch.from_numpy(self._scores[-1]).softmax(-1).numpy()
        return replace(super().held_out(predictor, prefix, parts), probabilities=probabilities)

    def baselines(self, parts: Split) -> dict[str, float]:
        """The baselines under leave-one-out; the most frequent label is that of all examples."""
        most = max(self.examples.counts.values()) / len(self.examples)
        return {"most frequent": most, "bag of words": words_in_turn(self.examples)}


class Regression(TextTask[ScoredExamples]):
    """Training to estimate a number for a text or a pair."""

    predictor = Regressor

    def objective(self, prefix: Prefix, parts: Split) -> Objective:
        """The squared error of the numbers."""
        return Numbers(self.examples.numbers, parts.train)

    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOutNumbers:
        """The held-out texts with their numbers and the estimates."""
        said = predictor.head.outputs(predictor.vectors(prefix, parts.held_out))[:, 0]
        texts, texts_b = zip(*(self.examples.pairs[row] for row in parts.held_out), strict=True)
        return HeldOutNumbers(texts, texts_b, np.array(self.examples.numbers, dtype=np.float32)[parts.held_out], said)

    def baselines(self, parts: Split) -> dict[str, float]:
        """The rank correlation of a bag of words and, for pairs, of the share of words in common."""
        return number_baselines(self.examples, parts)


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


def text_task(model: Explorer, examples: Examples, plan: TrainingPlan) -> TextTask:
    """The task for examples: regression for numbers, otherwise classification."""
    return Regression(model, examples, plan) if isinstance(examples, ScoredExamples) else Classification(model, examples, plan)
