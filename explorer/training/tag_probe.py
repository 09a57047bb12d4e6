"""Probing for tags of words: a linear head on every hidden state, from one pass of the model."""

from collections import defaultdict
from collections.abc import Generator, Sequence

import numpy as np

from explorer.analysis.resampling import bootstrap
from explorer.bert.explorer import Explorer
from explorer.core.steps import map_steps
from explorer.training.examples import HELD_OUT_SHARE, Split
from explorer.training.probe import LayerProbe, held_out_right
from explorer.training.settings import TrainingSettings
from explorer.training.tagging import TaggedExamples, split_sentences
from explorer.training.word_vectors import ReadWords, word_vectors_in_steps

MOST_WORDS = 4_000  # a logistic regression on more takes minutes
SETTINGS = TrainingSettings(regularization=0.01)  # with many words and tags the default of 1 makes the probe weak
REACHED = 0.95  # share of the best hidden state's gain over chance at which a layer 'knows' the tags


def probe_tags(
    model: Explorer, examples: TaggedExamples, pieces: str, seeds: int
) -> Generator[tuple[float, str], None, list[LayerProbe]]:
    """Logistic regression (L-BFGS) on every hidden state, `seeds` times with another split of the sentences.

    In the control task every word type gets a random tag, drawn by frequency (Hewitt & Liang 2019, section 2): a probe can only
    memorize these, and accuracy minus control is its selectivity. The interval is a bootstrap over sentences.
    More than MOST_WORDS words are reduced by sampling sentences.
    Yields the share done and a sentence.
    """
    examples = draw_sentences(examples, MOST_WORDS)
    layers = range(model.capabilities.layers + 1)
    splits = [split_sentences(examples, seed, HELD_OUT_SHARE) for seed in range(seeds)]
    read = ReadWords.of(model, [sentence.words for sentence in examples.sentences])
    there = np.flatnonzero(read.are_read(read.lengths))
    doing = f"Reading {len(examples):,} sentences, all layers in one pass."
    reading = word_vectors_in_steps(model, read, list(layers), pieces)
    vectors = yield from map_steps(reading, lambda share: (0.3 * share, doing))
    targets, sentence_of = examples.targets[there], examples.sentence_of[there]
    found = []
    for layer in layers:
        right = np.zeros((2, len(examples)))  # by sentence, over all splits: the words told right, and all words held out
        scores, controls = [], []
        for seed, rows in enumerate(splits):
            parts = Split(*(np.flatnonzero(np.isin(sentence_of, part)) for part in rows))
            own, control = (
                held_out_right(vectors[layer], tags, parts, len(examples.classes), SETTINGS)
                for tags in (targets, control_tags(examples, seed)[there])
            )
            scores.append(own.mean())
            controls.append(control.mean())
            of = sentence_of[parts.held_out]
            right += [np.bincount(of, weights, len(examples)) for weights in (own, np.ones(len(own)))]
            share = (layer * seeds + seed + 1) / (len(layers) * seeds)
            yield 0.3 + 0.7 * share, f"Hidden state {layer} of {len(layers) - 1}, seed {seed + 1} of {seeds}."
        summed = float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))
        held = right[1] > 0
        low, high = bootstrap(right[0, held], sizes=right[1, held])
        found.append(LayerProbe(layer, *summed, float(low), float(high), int(held.sum())))
    return found


def control_tags(examples: TaggedExamples, seed: int) -> np.ndarray:
    """[words] random tags (indices of classes): one for each word type, ignoring case, drawn by the frequency of the tags."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, int] = defaultdict(lambda: int(rng.choice(examples.targets)))
    return np.array([drawn[word.casefold()] for word in examples.words], dtype=np.int64)


def draw_sentences(examples: TaggedExamples, most: int) -> TaggedExamples:
    """The examples, or a fixed sample of their sentences with at most so many words; two sentences at least."""
    if len(examples.words) <= most:
        return examples
    kept = drawn_rows([len(sentence.words) for sentence in examples.sentences], most)
    return TaggedExamples(tuple(examples.sentences[row] for row in kept))


def drawn_rows(lengths: Sequence[int], most: int) -> np.ndarray:
    """Indices of a fixed sample of sentences, given their numbers of words, with at most `most` words; two sentences at least."""
    if sum(lengths) <= most:
        return np.arange(len(lengths))
    order = np.random.default_rng(0).permutation(len(lengths))
    words = np.cumsum(np.array(lengths)[order])
    return np.sort(order[: max(2, int((words <= most).sum()))])


def first_to_know(rows: list[LayerProbe], chance: float) -> int:
    """The first hidden state with REACHED of the best one's gain over `chance`, the share of the most frequent tag."""
    best = max(row.accuracy for row in rows)
    return next(row.layer for row in rows if row.accuracy >= chance + REACHED * (best - chance))
