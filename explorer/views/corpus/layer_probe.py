"""A linear probe on every hidden state, judged on words of held-out sentences."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.base.errors import InputError
from explorer.base.steps import map_steps, relay
from explorer.corpus.word_states import WordStates, words_alone
from explorer.figures.bars import bar_groups, percent
from explorer.figures.layers import Line, layer_lines
from explorer.text.corpus import Corpus, CorpusSentence
from explorer.text.dependencies import plain
from explorer.text.tagged import TaggedSentence
from explorer.training.examples import HELD_OUT_SHARE, Split
from explorer.training.head import Head
from explorer.training.probe import fitted_head
from explorer.training.settings import TrainingSettings
from explorer.training.tag_probe import drawn_rows
from explorer.training.tagging import TaggedExamples, split_sentences, word_memory
from explorer.views.corpus.layer_looks import READ_ALONE, Look, Untold
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, verdict

TAG, RELATION = "Part of speech", "Relation"
CALLED = {TAG: "part of speech", RELATION: "relation to its head"}
MOST_WORDS = 12_000  # a logistic regression on more takes minutes per hidden state
REGULARIZATION = 0.1  # measured on the built-in corpus: other values are less accurate, and lower ones take twice as long
FEWEST = 5  # held-out words of a class; the share of fewer says little
LISTED = 20  # classes
SAME = 0.98  # required share of equal predictions, with one exception: those near a decision boundary may change

ABOUT = (
    "A logistic regression on every hidden state, a word being the mean of its pieces; {trained:,} words of {sentences:,} "
    "sentences to train on, {held:,} words of other sentences to be told ({part}), the same for every hidden state. The band is "
    "± a standard error. The dashed line needs no model: each word gets the {called} that it has most often in the sentences "
    "trained on. The most frequent one of all is right for {usual}."
)


@dataclass(frozen=True)
class Probed(Look):
    """The predictions of probes for held-out words. Classes are indices into those of `examples`; `words` are all words used."""

    what: str
    corpus: Corpus = field(repr=False)
    examples: TaggedExamples = field(repr=False)
    words: WordStates = field(repr=False)
    parts: Split = field(repr=False)  # indices of `words`
    right: np.ndarray = field(repr=False)  # [held-out words] true classes
    said: np.ndarray = field(repr=False)  # [layers + 1, held-out words] predicted classes
    remembered: np.ndarray = field(repr=False)  # [held-out words] the most frequent class of each word in training
    usual: int  # the most frequent class of all
    heads: tuple[Head, ...] = field(repr=False)

    @property
    def accuracy(self) -> np.ndarray:
        """[layers + 1] accuracy, 0 to 1."""
        return (self.said == self.right).mean(axis=1)

    @property
    def baselines(self) -> tuple[float, float]:
        """The accuracy of each word's most frequent class, and of the most frequent class of all."""
        return float((self.remembered == self.right).mean()), float((self.right == self.usual).mean())

    def shown(self, at: int) -> Content:
        """Accuracy by hidden state beside baselines without a model, and by class at the selected one."""
        accuracy, called = self.accuracy, CALLED[self.what]
        error = np.sqrt(accuracy * (1 - accuracy) / len(self.right))
        own, usual = self.baselines
        lines = [
            Line("linear probe", accuracy, (accuracy - error, accuracy + error)),
            Line("the word's own most frequent one", np.full(len(accuracy), own), faint=True),
        ]
        shown = max(0.0, min(float(accuracy.min()), own) - 0.05), min(1.005, max(float(accuracy.max()), own) + 0.05)
        trained, held = len(self.parts.train), len(self.parts.held_out)
        among = len(self.examples)
        part = f"{len(self.words):,} of {self.corpus.words:,} words" if among < len(self.corpus.sentences) else "all words"
        return {
            "picture": layer_lines(lines, "held-out words told right", at, shown, ".1%"),
            "about": ABOUT.format(
                trained=trained, held=held, sentences=self._sentences, part=part, called=called, usual=percent(usual)
            ),
            "by_class": self._by_class(at),
        }

    def finding(self, at: int) -> Finding:
        """The best hidden state, beside the first, the last, and the baselines."""
        accuracy, (own, usual) = self.accuracy, self.baselines
        best, last = int(accuracy.argmax()), len(accuracy) - 1
        others = [f"{percent(accuracy[one])} from {one}" for one in (0, last) if one != best]
        called = CALLED[self.what]
        return Finding(
            f"From hidden state {best} a linear probe tells the {called} of {percent(accuracy[best])} of {len(self.right):,} "
            f"held-out words, the most ({' and '.join(others)}); the word's own most frequent one is right for {percent(own)}, "
            f"the most frequent of all for {percent(usual)}."
        )

    def check(self, subject: Subject, at: int) -> dict[str, str]:
        """Compare the predictions for the first held-out sentences when these are run alone, in full precision."""
        held = self.words.only(self.parts.held_out)
        rows = np.flatnonzero(np.isin(held.sentence, np.unique(held.sentence)[:READ_ALONE]))
        vectors = words_alone(subject.model, self.corpus, held.only(rows), at)
        head = self.heads[at]
        again = np.array([int(np.argmax(head.weight @ vector + head.bias)) for vector in vectors])
        same = int((again == self.said[at, rows]).sum())
        what = f"the probe calls {same} of {len(rows)} held-out words the same when their sentences are read alone"
        return verdict(same >= SAME * len(rows) - 1, f"{what}, in full precision")

    @property
    def _sentences(self) -> int:
        """The number of sentences trained on."""
        return len(np.unique(self.words.sentence[self.parts.train]))

    def _by_class(self, at: int) -> dict[str, object]:
        rows = []
        for place in np.argsort(-np.bincount(self.right, minlength=len(self.examples.classes)), kind="stable")[:LISTED].tolist():
            own = self.right == place
            if (number := int(own.sum())) >= FEWEST:
                memory = percent(float((self.remembered[own] == place).mean()))
                share = float((self.said[at, own] == place).mean())
                rows.append((plain(self.examples.classes[place]), share, f"of {number:,} ({memory})"))
        return bar_groups([(f"Told right from hidden state {at} (without a model)", rows)])


def probe_in_steps(corpus: Corpus, words: WordStates, what: str) -> Generator[tuple[str, float], None, Probed | Untold]:
    """Train a probe on each hidden state, on four fifths of the sentences; yields a sentence and the share done."""
    every: dict[str, Callable[[CorpusSentence], tuple[str, ...]]]
    every = {TAG: lambda one: one.tags, RELATION: lambda one: one.relations}
    told = every[what]
    there = [row for row, one in enumerate(corpus.sentences) if told(one)]
    if not there:
        return Untold(f"Nobody knows the {CALLED[what]} of a word here: take a treebank in CoNLL-U, or look at something else.")
    kept = np.array(there)[drawn_rows([len(corpus.sentences[row].words) for row in there], MOST_WORDS)]
    sentences = [corpus.sentences[row] for row in kept]
    examples = TaggedExamples(tuple(TaggedSentence(one.words, told(one)) for one in sentences))
    if len(examples.classes) < 2:
        return Untold(f"Every word here has the same {CALLED[what]}; there is nothing to tell.")
    try:
        split = split_sentences(examples, 0, HELD_OUT_SHARE)
    except InputError as error:
        return Untold(str(error))
    words = words.of_sentences(kept)
    begins = np.cumsum([0, *(len(one.words) for one in sentences)])
    number = begins[np.searchsorted(kept, words.sentence)] + words.word  # the index of each word among those of the examples
    targets, sentence = examples.targets[number], examples.sentence_of[number]
    parts = type(split)(*(np.flatnonzero(np.isin(sentence, part)) for part in (split.train, split.held_out)))
    settings, heads, said = TrainingSettings(regularization=REGULARIZATION), [], []
    for layer in words.layers:
        step = f"Training a probe on hidden state {layer} of {words.layers[-1]}", layer / len(words.layers)
        vectors = words.at(layer)

        def fit(report: Callable[[None], None], vectors: np.ndarray = vectors[parts.train]) -> Head:
            return fitted_head(vectors, targets[parts.train], len(examples.classes), settings)

        def tell(_: None, step: tuple[str, float] = step) -> tuple[str, float]:
            return step

        heads.append((yield from map_steps(relay(fit), tell)))  # in a thread, so that stopping does not wait for it
        said.append(heads[-1].outputs(vectors[parts.held_out]).argmax(-1))
    remembered = word_memory(examples, number[parts.train], number[parts.held_out])
    usual = int(np.bincount(targets[parts.train]).argmax())
    right = targets[parts.held_out]
    return Probed(what, corpus, examples, words, parts, right, np.stack(said), remembered, usual, tuple(heads))
