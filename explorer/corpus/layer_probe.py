"""A linear probe on every hidden state, judged on words of held-out sentences."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter

import numpy as np

from explorer.analysis.resampling import wilson_by_group
from explorer.core.errors import InputError
from explorer.core.steps import map_steps, relay
from explorer.corpus.compute.word_states import WordStates
from explorer.corpus.layer_looks import LayersLook
from explorer.corpus.source import Untold
from explorer.text.corpora import Corpus
from explorer.text.tagged import Sentence, plain
from explorer.training.examples import Split
from explorer.training.head import Head
from explorer.training.probe import control_tags, draw_rows, fit_head
from explorer.training.settings import TrainingSettings
from explorer.training.tagging import TaggedExamples, sentence_folds, word_memory
from explorer.ui.pictures.bars import bar_groups, percent
from explorer.ui.pictures.state_lines import probe_lines
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding

TAG, RELATION = "Part of speech", "Relation"
CALLED = {TAG: "part of speech", RELATION: "relation to its head"}
FOLDS, TRIED = 5, 3  # parts of the sentences, and how many of them are held out in turn: every one costs a probe for each layer
MOST_WORDS = 12_000  # a logistic regression on more takes minutes per hidden state
REGULARIZATION = 0.1  # measured on the built-in corpus: other values are less accurate, and lower ones take twice as long
FEWEST = 5  # held-out words of a class; the share of fewer says little
LISTED = 20  # classes

ABOUT = (
    "A probe is a logistic regression on a hidden state, in which a word is the mean of its pieces. {folds} of {parts} parts of "
    "the sentences are held out in turn: {held:,} words of {sentences:,} sentences ({part}), predicted by probes trained on the "
    "rest. The band is the 95% interval, with the words of a sentence as a group (Wilson 1927, by the effective number of "
    "words). The dashed line needs no model: each word gets its most frequent {called} in the sentences trained on. The most "
    "frequent one of all is right for {usual}. The control, in the first part, gives every word type a random "
    "{called}, which a probe can only memorize. The accuracy in that part minus that of the control (selectivity, Hewitt & "
    "Liang 2019) is {selectivity} at hidden state {at}."
)


@dataclass(frozen=True)
class Probed(LayersLook):
    """The predictions of probes for held-out words. Classes are indices into those of `examples`; `words` are all words used.

    The arrays are over the held-out words of all parts, `held` [held-out words] as indices of `words`, `fold` their part.
    """

    what: str
    examples: TaggedExamples = field(repr=False)
    held: np.ndarray = field(repr=False)
    fold: np.ndarray = field(repr=False)
    right: np.ndarray = field(repr=False)  # [held-out words] true classes
    said: np.ndarray = field(repr=False)  # [layers + 1, held-out words] predicted classes
    remembered: np.ndarray = field(repr=False)  # [held-out words] the most frequent class of each word in training
    usual: np.ndarray = field(repr=False)  # [held-out words] the most frequent class of all in training
    control: np.ndarray  # [layers + 1] accuracy of the control on the first part, 0 to 1

    @cached_property
    def hits(self) -> np.ndarray:
        """[layers + 1, held-out words] bool: the words predicted right."""
        return np.asarray(self.said == self.right)

    @property
    def accuracy(self) -> np.ndarray:
        """[layers + 1] accuracy, 0 to 1, over all parts."""
        return self.hits.mean(axis=1)

    @property
    def baselines(self) -> tuple[float, float]:
        """The accuracy of each word's most frequent class, and of the most frequent class of all."""
        return float((self.remembered == self.right).mean()), float((self.right == self.usual).mean())

    @property
    def selectivity(self) -> np.ndarray:
        """[layers + 1] accuracy on the first part minus that of the control: what is not learned by heart."""
        return np.asarray(self.hits[:, self.fold == 0].mean(axis=1)) - self.control

    @cached_property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends [layers + 1] of the 95% interval of the accuracy over sentences."""
        return self._interval(np.ones(len(self.right), dtype=bool))

    @cached_property
    def chosen(self) -> tuple[int, float, float, float]:
        """The hidden state that is best on the first part, and its accuracy and interval on the other parts."""
        first = self.fold == 0
        best = int(self.hits[:, first].mean(axis=1).argmax())
        low, high = self._interval(~first)
        return best, float(self.hits[best, ~first].mean()), float(low[best]), float(high[best])

    def _interval(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sentences, place = np.unique(self.words.sentence[self.held[which]], return_inverse=True)
        summed = np.stack([np.bincount(place, hits, len(sentences)) for hits in self.hits[:, which]], axis=1)
        return wilson_by_group(summed, np.bincount(place))

    def show(self, subject: Subject) -> Content:
        """Accuracy by hidden state beside a control and a baseline without a model, and by class at the selected one."""
        at, accuracy = subject.selection.layer, self.accuracy
        own, usual = self.baselines
        references = {"most frequent of each word": np.full(len(accuracy), own), "control: random by word type": self.control}
        about = ABOUT.format(
            folds=int(self.fold.max()) + 1,
            parts=min(FOLDS, len(self.examples)),
            held=len(self.held),
            sentences=len(np.unique(self.words.sentence[self.held])),
            part=f"of {self.corpus.words:,} words" if len(self.examples) < len(self.corpus.sentences) else "of all words",
            called=CALLED[self.what],
            usual=percent(usual),
            selectivity=percent(float(self.selectivity[at])),
            at=at,
        )
        picture = probe_lines(accuracy, self.interval, references, at, "held-out words predicted right")
        return {"picture": picture, "about": about, "by_class": self._by_class(at)}

    def finding(self, subject: Subject) -> Finding:
        best, share, low, high = self.chosen
        accuracy, (own, usual) = self.accuracy, self.baselines
        others = [f"from state {state} for {percent(accuracy[state])}" for state in (0, len(accuracy) - 1) if state != best]
        told = int((self.fold > 0).sum())
        return Finding(
            f"A probe reads the {CALLED[self.what]} best from hidden state {best}, chosen on other sentences: it is right for "
            f"{percent(share)} of {told:,} words (95% interval {percent(low)} to {percent(high)}), {' and '.join(others)}. "
            f"Without BERT, each word's most frequent class is right for {percent(own)}, the most frequent class of all for "
            f"{percent(usual)}."
        )

    def _by_class(self, at: int) -> dict[str, object]:
        rows = []
        for place in np.argsort(-np.bincount(self.right, minlength=len(self.examples.classes)), kind="stable")[:LISTED].tolist():
            own = self.right == place
            if (number := int(own.sum())) >= FEWEST:
                memory = percent(float((self.remembered[own] == place).mean()))
                share = float((self.said[at, own] == place).mean())
                rows.append((plain(self.examples.classes[place]), share, f"of {number:,} ({memory})"))
        return bar_groups([(f"Right from hidden state {at} (without a model)", rows)])


def probe_in_steps(corpus: Corpus, words: WordStates, what: str) -> Generator[tuple[str, float], None, Probed | Untold]:
    """Train probes on each hidden state, with parts of the sentences held out in turn; yields a sentence and the share done."""
    told: Callable[[Sentence], tuple[str, ...]] = attrgetter("tags" if what == TAG else "relations")
    there = [row for row, one in enumerate(corpus.sentences) if told(one)]
    if not there:
        return Untold(f"This corpus does not contain the {CALLED[what]} of its words. Choose a treebank in CoNLL-U.")
    kept = np.array(there)[draw_rows([len(corpus.sentences[row].words) for row in there], MOST_WORDS)]
    sentences = [corpus.sentences[row] for row in kept]
    examples = TaggedExamples(tuple(Sentence(sentence.words, told(sentence)) for sentence in sentences))
    if len(examples.classes) < 2:
        return Untold(f"Every word of this corpus has the same {CALLED[what]}, so there is nothing to predict.")
    try:
        folds = sentence_folds(examples, FOLDS)[:TRIED]
    except InputError as error:
        return Untold(str(error))
    words = words.of_sentences(kept)
    begins = np.cumsum([0, *(len(sentence.words) for sentence in sentences)])
    number = begins[np.searchsorted(kept, words.sentence)] + words.word  # the index of each word among those of the examples
    sentence = examples.sentence_of[number]
    parts = [Split(*(np.flatnonzero(np.isin(sentence, part)) for part in fold)) for fold in folds]
    return (yield from _fit(what, corpus, examples, words, number, parts))


def _fit(
    what: str, corpus: Corpus, examples: TaggedExamples, words: WordStates, number: np.ndarray, parts: Sequence[Split]
) -> Generator[tuple[str, float], None, Probed]:
    """The probes of all hidden states and parts, and the control; `number` are the words as words of the examples."""
    targets, control = examples.targets[number], control_tags(examples, 0)[number]
    tasks = [(targets, part) for part in parts] + [(control, parts[0])]
    said, controls = [], []
    for layer in words.layers:
        vectors, found = words.at(layer), []
        for done, (right, part) in enumerate(tasks):
            share = (layer + done / len(tasks)) / len(words.layers)
            step = f"Training probe {done + 1} of {len(tasks)} on hidden state {layer} of {words.layers[-1]}", share
            fit = partial(_head, vectors[part.train], right[part.train], len(examples.classes))
            found.append((yield from map_steps(relay(fit), partial(_first, step))))  # in a thread, so that it can be stopped
        said.append([head.outputs(vectors[part.held_out]).argmax(-1) for head, part in zip(found, parts, strict=False)])
        best = found[-1].outputs(vectors[parts[0].held_out]).argmax(-1)
        controls.append(float((best == control[parts[0].held_out]).mean()))
    held = [part.held_out for part in parts]
    usual = [np.full(len(part.held_out), np.bincount(targets[part.train]).argmax()) for part in parts]
    remembered = [word_memory(examples, number[part.train], number[part.held_out]) for part in parts]
    every, fold = np.concatenate(held), np.repeat(np.arange(len(parts)), [len(rows) for rows in held])
    return Probed(
        corpus,
        words,
        what,
        examples,
        every,
        fold,
        targets[every],
        np.stack([np.concatenate(labels) for labels in said]),
        np.concatenate(remembered),
        np.concatenate(usual),
        np.array(controls),
    )


def _first(step: tuple[str, float], _: object) -> tuple[str, float]:
    return step


def _head(vectors: np.ndarray, targets: np.ndarray, classes: int, _: Callable[[None], None]) -> Head:
    return fit_head(vectors, targets, classes, TrainingSettings(regularization=REGULARIZATION))
