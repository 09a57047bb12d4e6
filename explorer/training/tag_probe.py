"""Which layer knows the tags of words: a linear head on every hidden state, from one pass of the model."""

from collections import defaultdict
from collections.abc import Generator, Sequence

import numpy as np

from explorer.base.steps import map_steps
from explorer.model.explorer import Explorer
from explorer.training.examples import HELD_OUT_SHARE, Split
from explorer.training.probe import LayerProbe, held_out_accuracy
from explorer.training.settings import TrainingSettings
from explorer.training.tagging import TaggedExamples, split_sentences
from explorer.training.word_vectors import ReadWords, word_vectors_in_steps

MOST_WORDS = 4_000  # a logistic regression on more takes minutes
SETTINGS = TrainingSettings(regularization=0.01)  # many words and tags: the usual 1 leaves the probe weak
REACHED = 0.95  # of what the best hidden state adds to always the same tag


def probe_tags(
    model: Explorer, examples: TaggedExamples, pieces: str, seeds: int
) -> Generator[tuple[float, str], None, list[LayerProbe]]:
    """Logistic regression (L-BFGS) on every hidden state, `seeds` times with another split of the sentences.

    In the control task every word type gets one tag drawn as often as it occurs (Hewitt & Liang 2019, section 2): what a probe
    learns of that it only remembers, and accuracy minus control is its selectivity. Of more than MOST_WORDS words as many
    sentences are drawn as have so many. Yields how far it is.
    """
    examples = draw_sentences(examples, MOST_WORDS)
    layers = range(model.capabilities.layers + 1)
    splits = [split_sentences(examples, seed, HELD_OUT_SHARE) for seed in range(seeds)]
    read = ReadWords.of(model, [one.words for one in examples.sentences])
    there = np.flatnonzero(read.are_read(read.lengths))
    doing = f"Reading {len(examples):,} sentences, all layers in one pass."
    reading = word_vectors_in_steps(model, read, list(layers), pieces)
    vectors = yield from map_steps(reading, lambda share: (0.3 * share, doing))
    targets, sentence_of = examples.targets[there], examples.sentence_of[there]
    found = []
    for layer in layers:
        scores: list[float] = []
        controls: list[float] = []
        for seed, rows in enumerate(splits):
            parts = Split(*(np.flatnonzero(np.isin(sentence_of, part)) for part in rows))
            for task, right in ((scores, targets), (controls, control_tags(examples, seed)[there])):
                task.append(held_out_accuracy(vectors[layer], right, parts, len(examples.classes), SETTINGS))
            share = (layer * seeds + seed + 1) / (len(layers) * seeds)
            yield 0.3 + 0.7 * share, f"Hidden state {layer} of {len(layers) - 1}, seed {seed + 1} of {seeds}."
        found.append(LayerProbe(layer, float(np.mean(scores)), float(np.std(scores)), float(np.mean(controls))))
    return found


def control_tags(examples: TaggedExamples, seed: int) -> np.ndarray:
    """[words] tags (places among the classes): one for each word type, capitals aside, drawn from those of all words."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, int] = defaultdict(lambda: int(rng.choice(examples.targets)))
    return np.array([drawn[word.casefold()] for word in examples.words], dtype=np.int64)


def draw_sentences(examples: TaggedExamples, most: int) -> TaggedExamples:
    """The examples, or as many of their sentences, always the same, as have at most so many words; two at least."""
    if len(examples.words) <= most:
        return examples
    kept = drawn_rows([len(one.words) for one in examples.sentences], most)
    return TaggedExamples(tuple(examples.sentences[row] for row in kept))


def drawn_rows(lengths: Sequence[int], most: int) -> np.ndarray:
    """Which of some sentences, by their numbers of words, are taken to have at most so many: always the same, two at least."""
    if sum(lengths) <= most:
        return np.arange(len(lengths))
    order = np.random.default_rng(0).permutation(len(lengths))
    words = np.cumsum(np.array(lengths)[order])
    return np.sort(order[: max(2, int((words <= most).sum()))])


def first_to_know(rows: list[LayerProbe], chance: float) -> int:
    """The first hidden state that reaches REACHED of what the best one adds to `chance`, the share of the most frequent tag."""
    best = max(row.accuracy for row in rows)
    return next(row.layer for row in rows if row.accuracy >= chance + REACHED * (best - chance))
