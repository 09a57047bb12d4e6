"""The words of a corpus as vectors, each the mean of its pieces, at any hidden state, a block at a time."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.corpus.compute.reading import ADDED, CorpusStates, corpus_states_in_steps
from explorer.text.corpora import Corpus

BLOCK = 2**13  # words whose vectors are in memory together


@dataclass(frozen=True)
class WordStates:
    """The words of a corpus of which a model reads at least one piece, in order.

    `sentence`, `word` (zero-based, in its sentence), `first` (the token of its first piece) and `pieces` are [words].
    """

    read: CorpusStates = field(repr=False)
    sentence: np.ndarray
    word: np.ndarray
    first: np.ndarray
    pieces: np.ndarray

    @classmethod
    def of(cls, read: CorpusStates) -> "WordStates":
        tokens = read.tokens
        kept = np.flatnonzero(tokens.word != ADDED)
        sentence, word = tokens.sentence[kept], tokens.word[kept]
        begins = np.flatnonzero(np.concatenate([[True], (np.diff(sentence) != 0) | (np.diff(word) != 0)]))
        pieces = np.diff([*begins, len(kept)])
        return cls(read, sentence[begins], word[begins], kept[begins], pieces)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def layers(self) -> tuple[int, ...]:
        """The hidden states that were read."""
        return self.read.layers

    @property
    def width(self) -> int:
        return self.read.states.shape[-1]

    @property
    def places(self) -> np.ndarray:
        """[words] a number for the place of each word in the corpus that does not depend on the model."""
        return self.sentence.astype(np.int64) * 2**32 + self.word

    def only(self, rows: np.ndarray | slice) -> "WordStates":
        return replace(self, sentence=self.sentence[rows], word=self.word[rows], first=self.first[rows], pieces=self.pieces[rows])

    def of_sentences(self, sentences: np.ndarray) -> "WordStates":
        return self.only(np.flatnonzero(np.isin(self.sentence, sentences)))

    def tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """All pieces of all words: the indices of their tokens in the corpus, and the index of the word each belongs to."""
        word = np.repeat(np.arange(len(self)), self.pieces)
        before = np.cumsum(self.pieces) - self.pieces
        return self.first[word] + np.arange(len(word)) - before[word], word

    def at(self, layer: int) -> np.ndarray:
        """[words, hidden] float32 the vectors at a hidden state."""
        if not len(self):
            return np.empty((0, self.width), np.float32)
        rows, _ = self.tokens()
        summed = np.add.reduceat(self.read.at(layer)[rows].astype(np.float32), np.cumsum(self.pieces) - self.pieces, axis=0)
        return summed / self.pieces[:, None].astype(np.float32)

    def blocks(self) -> Iterator[tuple[slice, "WordStates"]]:
        """The words in blocks, each with its slice of rows."""
        for start in range(0, len(self), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, self.only(rows)


def word_states_in_steps(model: Explorer, corpus: Corpus) -> Generator[float, None, WordStates]:
    """The words of a corpus with all hidden states of a model. Yields the share done, 0 to 1. Raises InputError."""
    read = yield from corpus_states_in_steps(model, corpus, range(model.capabilities.layers + 1))
    return WordStates.of(read)


def words_of_both(here: WordStates, there: WordStates) -> tuple[WordStates, WordStates]:
    """The words that both models read, in the same order: one may cut a sentence where the other does not."""
    _, rows, others = np.intersect1d(here.places, there.places, assume_unique=True, return_indices=True)
    return here.only(rows), there.only(others)


def words_alone(model: Explorer, corpus: Corpus, words: WordStates, layer: int) -> np.ndarray:
    """[words, hidden] whole words at a hidden state, the mean of their pieces, each sentence run alone in full precision."""
    rows, word = words.tokens()
    of, positions = words.sentence[word], words.read.tokens.position[rows]
    texts = {int(number): corpus.sentences[number].text for number in np.unique(of)}
    alone = [model.trace(text).hidden_states[layer][positions[of == one]] for one, text in texts.items()]
    vectors = np.concatenate(alone)
    return np.stack([vectors[word == number].mean(axis=0) for number in range(len(words))])
