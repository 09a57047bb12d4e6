"""Sentences whose words are tagged: the training data of a tagger, and its baselines without BERT."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.analysis.evaluation import by_sentence, entity_scores, marks_entities
from explorer.core.errors import InputError
from explorer.core.limits import CLASSES, TEXTS
from explorer.text import limits
from explorer.text.tagged import Sentence, check_tagged, split_words
from explorer.training.examples import Split, draw_groups, group_rows, normalise

MEMORY, MEMORY_OF_NAMES = "word memory", "word memory, F1 of names"  # baselines


@dataclass(frozen=True)
class TaggedExamples:
    """Sentences with a tag for each word. Word indices run through all sentences."""

    sentences: tuple[Sentence, ...]

    @cached_property
    def classes(self) -> list[str]:
        return sorted(self.counts)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(tag for sentence in self.sentences for tag in sentence.tags)

    @cached_property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence.words]

    @cached_property
    def targets(self) -> np.ndarray:
        """[words] int64: the index of each word's tag among the classes."""
        return np.searchsorted(self.classes, [tag for sentence in self.sentences for tag in sentence.tags])

    @cached_property
    def sentence_of(self) -> np.ndarray:
        """[words] int64: the index of the sentence of each word."""
        return np.repeat(np.arange(len(self)), [len(sentence.words) for sentence in self.sentences])

    @property
    def has_entities(self) -> bool:
        """Whether some tags are of the form B-PER or I-PER."""
        return marks_entities(self.classes)

    def split(self, seed: int, share: float) -> Split:
        """Indices of sentences to train on and to hold out, about `share` of them; equal sentences stay on one side.

        The same seed gives the same split. Raises InputError when all sentences are equal.
        """
        return Split.of(draw_groups(_group_equal(self), share, np.random.default_rng(seed)), len(self))

    def __len__(self) -> int:
        return len(self.sentences)


def check_tagged_examples(given: object) -> TaggedExamples:
    """Examples from [[[word, ...], [tag, ...]], ...]. Raises InputError unless there are 2 sentences and 2 different tags."""
    given = limits.check_list(given, "Send the examples as a list of [words, tags].")
    TEXTS.check(len(given), "examples")
    sentences = []
    for number, row in enumerate(given, start=1):
        words, tags = limits.check_list(row, f"Example {number} is not a pair of a list of words and a list of tags.", 2)
        sentences.append(check_tagged(words, tags, f"Example {number}"))
    return tagged_examples(sentences)[0]


def check_to_tag(texts: object) -> list[list[str]]:
    """Sentences from texts, which are split into words, or from lists of words, which are taken as they are.

    Raises InputError.
    """
    texts = limits.check_list(texts, "Send the texts as a list, each a text or a list of words.")
    if not texts:
        raise InputError("The list has no texts. Give at least one sentence.")
    TEXTS.check(len(texts), "texts")
    return [
        list(check_tagged(text, ["O"] * len(text), f"Text {number}").words)
        if limits.is_list(text)
        else split_words(limits.check_text(text, f"text {number}"))
        for number, text in enumerate(texts, start=1)
    ]


def tagged_examples(sentences: Sequence[Sentence]) -> tuple[TaggedExamples, str]:
    """Examples, and a sentence about what was left out: too many sentences are sampled, always the same.

    Raises InputError unless there are 2 sentences and 2 different tags.
    """
    note = ""
    if len(sentences) > TEXTS.most:
        drawn = np.sort(np.random.default_rng(0).choice(len(sentences), TEXTS.most, replace=False))
        note = f"{TEXTS.most:,} of {len(sentences):,} sentences drawn at random."
        sentences = [sentences[row] for row in drawn]
    examples = TaggedExamples(tuple(sentences))
    if len(examples) < 2:
        raise InputError("A tagger needs two sentences or more, one of them to hold out. Add another one.")
    if len(examples.classes) < 2:
        raise InputError(f"All words have the tag {examples.classes[0][:40]!r}. Give some words another tag.")
    CLASSES.check(len(examples.classes))
    return examples, note


def sentence_folds(examples: TaggedExamples, folds: int) -> list[Split]:
    """The sentences in `folds` parts of about equal size at random, each held out once; equal sentences stay in one part.

    There are fewer folds than that of fewer different sentences. Raises InputError when all sentences are equal.
    """
    groups = _group_equal(examples)
    parts: list[list[int]] = [[] for _ in range(min(folds, len(groups)))]
    for place in np.random.default_rng(0).permutation(len(groups)):
        min(parts, key=len).extend(groups[place])
    return [Split.of(part, len(examples)) for part in parts]


def _group_equal(examples: TaggedExamples) -> list[list[int]]:
    """The indices of the sentences, equal ones together. Raises InputError when all are equal."""
    groups = group_rows(normalise(" ".join(sentence.words)) for sentence in examples.sentences)
    if len(groups) < 2:
        raise InputError("All sentences are identical. Add different ones.")
    return groups


def word_memory(examples: TaggedExamples, train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """[rows] predicted tags (indices of classes): the most frequent one of each word in training.

    A word that does not occur there, ignoring case, gets the most frequent tag of all. `train` and `rows` are indices of words.
    """
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    for row in train:
        seen[examples.words[row].casefold()][int(examples.targets[row])] += 1
    best = {word: counted.most_common(1)[0][0] for word, counted in seen.items()}
    usual = int(np.bincount(examples.targets[train]).argmax())
    return np.array([best.get(examples.words[row].casefold(), usual) for row in rows], dtype=np.int64)


def tag_baselines(examples: TaggedExamples, train: np.ndarray, held: np.ndarray) -> dict[str, float]:
    """The accuracy of simple methods on the held-out words, and the F1 of entities found by word memory, 0 to 1.

    `train` and `held` are indices of words.
    """
    targets, remembered = examples.targets[held], word_memory(examples, train, held)
    usual = np.bincount(examples.targets[train]).argmax()
    found = {"most frequent tag": float((targets == usual).mean()), MEMORY: float((targets == remembered).mean())}
    if examples.has_entities:
        right, said = (by_sentence(examples.sentence_of[held], [examples.classes[place] for place in rows])
                       for rows in (targets, remembered))  # fmt: skip
        scores = entity_scores(right, said)
        found[MEMORY_OF_NAMES] = scores[0].f1 if scores else 0.0
    return found
