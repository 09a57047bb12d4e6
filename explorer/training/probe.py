"""Probing: a linear head on every hidden state, for labels of texts or tags of words, from one pass of the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.resampling import bootstrap, wilson
from explorer.bert.explorer import Explorer
from explorer.bert.features import layer_features_in_steps
from explorer.core.engine import torch
from explorer.core.limits import TEXTS
from explorer.core.steps import map_steps
from explorer.text import limits
from explorer.text.pairs import Pair
from explorer.training.examples import HELD_OUT_SHARE, Examples, Split, group_rows, normalise, split
from explorer.training.head import Head, Scale
from explorer.training.objectives import solve
from explorer.training.settings import TrainingSettings
from explorer.training.tagging import TaggedExamples, split_sentences
from explorer.training.word_vectors import ReadWords, word_vectors_in_steps

POOLINGS = ("cls", "mean")  # the pooler reads the last layer only
MOST_WORDS = 4_000  # a logistic regression on more takes minutes
TAG_SETTINGS = TrainingSettings(regularization=0.01)  # with many words and tags the default of 1 makes the probe weak
REACHED = 0.95  # share of the best hidden state's gain over chance at which a layer 'knows' the tags

Steps = Generator[tuple[float, str], None, list["LayerProbe"]]
"""Yields the share done, 0 to 1, and a sentence."""


@dataclass(frozen=True)
class LayerProbe:
    """One hidden state's held-out accuracy: its mean and standard deviation over the splits, and the mean of the control.

    `low` to `high` is the 95% interval of the accuracy over sentences; `sentences` different ones were held out in some split.
    """

    layer: int  # 0 is the embedding output
    accuracy: float
    deviation: float
    control_accuracy: float
    low: float
    high: float
    sentences: int


def probe(model: Explorer, examples: Examples, pooling: str, seeds: int) -> Steps:
    """Logistic regression (L-BFGS) of the labels on every hidden state, `seeds` times with another split.

    The control is the same with the labels shuffled, equal texts alike: what a probe reaches by chance with these labels and
    splits. It is no control task of Hewitt & Liang 2019, and the difference no selectivity: these need inputs that recur, such as
    words, whose random labels a probe could learn by heart, and held-out texts never occur in training. The interval is Wilson's
    (1927) over the different texts that were held out, each counted by how often it was right.
    """
    limits.check_choice(pooling, "pooling", POOLINGS)
    examples = examples.draw(TEXTS.most)
    splits = [split(examples, seed) for seed in range(seeds)]
    doing = f"Reading {len(examples):,} examples, all layers in one pass."
    reading = layer_features_in_steps(model, examples.pairs, pooling)
    vectors = yield from map_steps(reading, lambda share: (0.5 * share, doing))
    text_of = np.empty(len(examples), dtype=np.int64)  # equal texts have the same number
    for number, rows in enumerate(group_rows(tuple(map(normalise, pair)) for pair in examples.pairs)):
        text_of[rows] = number

    def interval(right: Sequence[np.ndarray]) -> tuple[float, float, int]:
        _, text = np.unique(np.concatenate([text_of[parts.held_out] for parts in splits]), return_inverse=True)
        shares = np.bincount(text, np.concatenate(right)) / np.bincount(text)
        return *wilson(float(shares.sum()), len(shares)), len(shares)

    targets = [(examples.targets, control_targets(examples, seed)) for seed in range(seeds)]
    probing = _probe_layers(vectors, splits, targets, len(examples.classes), TrainingSettings(), interval)
    return (yield from map_steps(probing, lambda step: (0.5 + 0.5 * step[0], step[1])))


def probe_tags(model: Explorer, examples: TaggedExamples, pieces: str, seeds: int) -> Steps:
    """Logistic regression (L-BFGS) of the tags on every hidden state, `seeds` times with another split of the sentences.

    In the control task every word type gets a random tag, drawn by frequency (Hewitt & Liang 2019, section 2): a probe can only
    memorize these, and accuracy minus control is its selectivity. The interval is a bootstrap over sentences.
    More than MOST_WORDS words are reduced by sampling sentences.
    """
    kept = draw_rows([len(sentence.words) for sentence in examples.sentences], MOST_WORDS)
    examples = TaggedExamples(tuple(examples.sentences[row] for row in kept))
    read = ReadWords.of(model, [sentence.words for sentence in examples.sentences])
    doing = f"Reading {len(examples):,} sentences, all layers in one pass."
    reading = word_vectors_in_steps(model, read, range(model.capabilities.layers + 1), pieces)
    vectors = yield from map_steps(reading, lambda share: (0.3 * share, doing))
    there = np.flatnonzero(read.are_read(read.lengths))
    sentence_of = examples.sentence_of[there]
    in_words = [
        Split(*(np.flatnonzero(np.isin(sentence_of, part)) for part in split_sentences(examples, seed, HELD_OUT_SHARE)))
        for seed in range(seeds)
    ]

    def interval(right: Sequence[np.ndarray]) -> tuple[float, float, int]:
        sentence = np.concatenate([sentence_of[parts.held_out] for parts in in_words])
        words, told = np.bincount(sentence), np.bincount(sentence, np.concatenate(right))
        held = words > 0
        low, high = bootstrap(told[held], sizes=words[held])
        return float(low), float(high), int(held.sum())

    targets = [(examples.targets[there], control_tags(examples, seed)[there]) for seed in range(seeds)]
    probing = _probe_layers(vectors, in_words, targets, len(examples.classes), TAG_SETTINGS, interval)
    return (yield from map_steps(probing, lambda step: (0.3 + 0.7 * step[0], step[1])))


def _probe_layers(
    vectors: np.ndarray,
    splits: Sequence[Split],
    targets: Sequence[tuple[np.ndarray, np.ndarray]],
    labels: int,
    settings: TrainingSettings,
    interval: Callable[[Sequence[np.ndarray]], tuple[float, float, int]],
) -> Steps:
    """Probes on vectors [hidden states, rows, hidden] for each split, of its targets [rows] and of those of its control.

    `interval` makes the last three fields of a LayerProbe from what was told right of each split's held-out rows.
    """
    found = []
    for layer, states in enumerate(vectors):
        right, controls = [], []
        for done, (parts, (own, control)) in enumerate(zip(splits, targets, strict=True), start=1):
            right.append(_held_out_right(states, own, parts, labels, settings))
            controls.append(_held_out_right(states, control, parts, labels, settings).mean())
            share = (layer * len(splits) + done) / (len(vectors) * len(splits))
            yield share, f"Hidden state {layer} of {len(vectors) - 1}, seed {done} of {len(splits)}."
        scores = [hits.mean() for hits in right]
        summed = float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))
        found.append(LayerProbe(layer, *summed, *interval(right)))
    return found


def control_targets(examples: Examples, seed: int) -> np.ndarray:
    """[examples] shuffled labels: equal texts get the same one."""
    drawn: dict[Pair, int] = {}
    shuffled = np.random.default_rng(seed).permutation(examples.targets)
    return np.array([drawn.setdefault(pair, int(target)) for pair, target in zip(examples.pairs, shuffled, strict=True)])


def control_tags(examples: TaggedExamples, seed: int) -> np.ndarray:
    """[words] random tags (indices of classes): one for each word type, ignoring case, drawn by the frequency of the tags."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, int] = defaultdict(lambda: int(rng.choice(examples.targets)))
    return np.array([drawn[word.casefold()] for word in examples.words], dtype=np.int64)


def draw_rows(lengths: Sequence[int], most: int) -> np.ndarray:
    """Indices of a fixed sample of sentences, given their numbers of words, with at most `most` words; two sentences at least."""
    if sum(lengths) <= most:
        return np.arange(len(lengths))
    order = np.random.default_rng(0).permutation(len(lengths))
    words = np.cumsum(np.array(lengths)[order])
    return np.sort(order[: max(2, int((words <= most).sum()))])


def fit_head(vectors: np.ndarray, targets: np.ndarray, labels: int, settings: TrainingSettings) -> Head:
    """A logistic regression (L-BFGS) of targets [rows] on vectors [rows, hidden], trained on all rows."""
    inputs = torch.from_numpy(vectors)
    scale = Scale.of(inputs)
    weight, bias = solve(scale.apply(inputs).numpy(), targets, labels, settings)
    return Head(*scale.fold(torch.from_numpy(weight), torch.from_numpy(bias)))


def _held_out_right(
    vectors: np.ndarray, targets: np.ndarray, parts: Split, labels: int, settings: TrainingSettings
) -> np.ndarray:
    """[held out] bool: which rows a logistic regression on the other ones tells right."""
    head = fit_head(vectors[parts.train], targets[parts.train], labels, settings)
    return head.outputs(vectors[parts.held_out]).argmax(-1) == targets[parts.held_out]


def first_to_know(rows: list[LayerProbe], chance: float) -> int:
    """The first hidden state with REACHED of the best one's gain over `chance`, the share of the most frequent tag."""
    best = max(row.accuracy for row in rows)
    return next(row.layer for row in rows if row.accuracy >= chance + REACHED * (best - chance))
