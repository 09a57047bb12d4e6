"""Sentences whose words are tagged: the training data of a tagger, its baselines without BERT, and a vector for each word.

A word's vector is that of its first piece, or the mean of its pieces.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.analysis.evaluation import by_sentence, entity_scores, marks_entities
from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import CLASSES, TEXTS
from explorer.text import limits
from explorer.text.encoding import Encoding
from explorer.text.tagged import Sentence, check_tagged, split_words
from explorer.training.examples import Split, draw_groups, group_rows, normalise, sample_rows, sent_examples

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

    def split(self, seed: int, share: float) -> Split:
        """Indices of sentences to train on and to hold out, about `share` of them; equal sentences stay on one side.

        The same seed gives the same split. Raises InputError when all sentences are equal.
        """
        return Split.of(draw_groups(_group_equal(self), share, np.random.default_rng(seed)), len(self))

    def __len__(self) -> int:
        return len(self.sentences)


def check_tagged_examples(given: object) -> TaggedExamples:
    """Examples from [[[word, ...], [tag, ...]], ...]. Raises InputError unless there are 2 sentences and 2 different tags."""
    rows = sent_examples(given, "[words, tags]", "a pair of a list of words and a list of tags", TEXTS, 2)
    return tagged_examples([check_tagged(words, tags, name.capitalize()) for name, (words, tags) in rows])[0]


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
    drawn, note = sample_rows(sentences, TEXTS.most, "sentences")
    examples = TaggedExamples(tuple(drawn))
    if len(examples) < 2:
        raise InputError("A tagger needs two sentences or more, one of them to hold out. Add another one.")
    if len(examples.classes) < 2:
        raise InputError(f"All words have the tag {examples.classes[0][:40]!r}. Give some words another tag.")
    CLASSES.check(len(examples.classes))
    return examples, f"{note}." if note else ""


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
    if marks_entities(examples.classes):
        right, said = (by_sentence(examples.sentence_of[held], [examples.classes[place] for place in rows])
                       for rows in (targets, remembered))  # fmt: skip
        scores = entity_scores(right, said)
        found[MEMORY_OF_NAMES] = scores[0].f1 if scores else 0.0
    return found


PIECES = ("first", "mean")

Words = Sequence[str]
"""The words of a sentence."""


def read_words(model: Explorer, sentences: Sequence[Words]) -> tuple[list[Encoding], list[np.ndarray]]:
    """Sentences given as words, each cut to the model's length, and for each [words, 2] the first and last token of its words.

    They are -1 for a word that the model does not read. The words are joined by spaces, which for BERT is equivalent to
    `is_split_into_words` of transformers. Raises InputError for a sentence that cannot be read.
    """
    encodings = [model.encode(" ".join(words)) for words in sentences]
    return encodings, [_places(encoding, words) for encoding, words in zip(encodings, sentences, strict=True)]


def _places(encoding: Encoding, words: Words) -> np.ndarray:
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    tokens = np.array(encoding.text_positions)
    # Assign pieces by their last character: a piece of SentencePiece may begin with the space before it.
    ends = np.array([encoding.offsets[token][1] for token in tokens]) - 1
    word_of = np.searchsorted(starts, ends, side="right") - 1
    found = np.full((len(words), 2), -1)
    found[word_of, 1] = tokens
    found[word_of[::-1], 0] = tokens[::-1]
    return found


@dataclass(frozen=True)
class WordPlaces:
    """The words that are read when sentences are cut to `lengths` [sentences] tokens, the last of which belongs to no word."""

    spans: torch.Tensor  # [words read, 2]: the first and the last token of each
    sentence: torch.Tensor  # [words read] the index of its sentence, ascending
    read: np.ndarray  # [words read] their indices among all words
    lengths: torch.Tensor
    pieces: str  # one of PIECES

    @classmethod
    def of(cls, places: Sequence[np.ndarray], lengths: torch.Tensor, pieces: str) -> WordPlaces:
        """The words of sentences from the output of `read_words`."""
        spans, sentence = np.concatenate(places), np.repeat(np.arange(len(places)), list(map(len, places)))
        ends = lengths.numpy()[sentence] - 2
        read = np.flatnonzero((spans[:, 0] >= 0) & (spans[:, 0] <= ends))
        kept = np.minimum(spans[read], ends[read, None])
        return cls(torch.from_numpy(kept), torch.from_numpy(sentence[read]), read, lengths, pieces)

    def words(self, rows: torch.Tensor) -> torch.Tensor:
        """The indices, among all words read, of those in the sentences `rows`, in their order."""
        starts, ends = (torch.searchsorted(self.sentence, rows, right=right).tolist() for right in (False, True))
        return torch.cat([torch.arange(start, end) for start, end in zip(starts, ends, strict=True)])

    def pool(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[words, hidden] from the vectors [tokens, hidden] of all tokens of the sentences `rows`, one sentence after another."""
        words, shifts = self.words(rows), torch.empty_like(self.lengths)
        shifts[rows] = self.lengths[rows].cumsum(0) - self.lengths[rows]
        first, last = (self.spans[words] + shifts[self.sentence[words], None]).T
        if self.pieces == "first":
            return given[first]
        counts = last - first + 1
        begins = counts.cumsum(0) - counts
        tokens = torch.arange(int(counts.sum())) + (first - begins).repeat_interleave(counts)
        return torch.nn.functional.embedding_bag(tokens, given, begins, mode="mean")
