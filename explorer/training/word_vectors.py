"""One vector per word, that of its first piece or the mean of its pieces, from any hidden state."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded
from explorer.core.engine import no_grad, torch
from explorer.core.errors import InputError
from explorer.core.limits import TRAINING_MEGABYTES
from explorer.core.steps import finished
from explorer.text.encoding import Encoding

PIECES = ("first", "mean")
BATCH_SIZE = 32

Words = Sequence[str]
"""The words of a sentence."""


@dataclass(frozen=True)
class ReadWords:
    """Sentences as the model reads them, with the positions of their words.

    Word indices run through all sentences. `first` and `last` [words] are the tokens of a word's pieces in its sentence,
    zero-based; -1 where the model reads none of them, because the sentence is too long.
    """

    encodings: list[Encoding]
    sentence: np.ndarray  # [words]
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, model: Explorer, sentences: Sequence[Words]) -> ReadWords:
        """Read sentences given as words, each cut to the model's length. Raises InputError for one that cannot be read.

        The words are joined by spaces, which for BERT is equivalent to `is_split_into_words` of transformers.
        """
        encodings = [model.encode(" ".join(words)) for words in sentences]
        places = [_places(encoding, words) for encoding, words in zip(encodings, sentences, strict=True)]
        sentence = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
        first, last = np.concatenate(places, axis=1) if places else np.empty((2, 0), dtype=np.int64)
        return cls(encodings, sentence, first, last)

    @property
    def encoded(self) -> list[Encoded]:
        return [(encoding.ids, encoding.segments) for encoding in self.encodings]

    @property
    def lengths(self) -> np.ndarray:
        """[sentences] the number of tokens."""
        return np.array([encoding.kept for encoding in self.encodings])

    def are_read(self, lengths: np.ndarray) -> np.ndarray:
        """[words] whether each has a piece among the first `lengths` [sentences] tokens, the last of which belongs to no word."""
        return (self.first >= 0) & (self.first < lengths[self.sentence] - 1)


def _places(encoding: Encoding, words: Words) -> np.ndarray:
    """[2, words]: the first and the last token of each word, -1 for words that are not read."""
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    tokens = np.array(encoding.text_positions)
    # Assign pieces by their last character: a piece of SentencePiece may begin with the space before it.
    ends = np.array([encoding.offsets[token][1] for token in tokens]) - 1
    word_of = np.searchsorted(starts, ends, side="right") - 1
    found = np.full((2, len(words)), -1)
    found[1, word_of] = tokens
    found[0, word_of[::-1]] = tokens[::-1]
    return found


def pool_words(states: torch.Tensor, first: torch.Tensor, last: torch.Tensor, pieces: str) -> torch.Tensor:
    """[words, hidden] from vectors [tokens, hidden]; the pieces of a word are the tokens `first` to `last`."""
    if pieces == "first":
        return states[first]
    counts = last - first + 1
    word = torch.arange(len(first)).repeat_interleave(counts)
    before = (counts.cumsum(0) - counts).repeat_interleave(counts)
    tokens = first.repeat_interleave(counts) + torch.arange(len(word)) - before
    summed = torch.zeros(len(first), states.shape[1], dtype=states.dtype).index_add(0, word, states[tokens])
    return summed / counts[:, None]


def word_vectors_in_steps(
    model: Explorer, read: ReadWords, layers: Sequence[int], pieces: str
) -> Generator[float, None, np.ndarray]:
    """[layers, words, hidden] float32 of some hidden states (indices, ascending), for the words that are read.

    Yields the share done, 0 to 1, after every batch. Raises InputError when the vectors would exceed the memory limit.
    """
    there = np.flatnonzero(read.are_read(read.lengths))
    shape = len(layers), len(there), model.capabilities.hidden_size
    if np.prod(shape, dtype=float) * 4 > TRAINING_MEGABYTES.bytes:
        raise InputError(TRAINING_MEGABYTES.tell(len(read.encodings)))
    found = np.empty(shape, dtype=np.float32)
    encoded, order = read.encoded, np.argsort(read.lengths, kind="stable")  # texts of similar length together
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        states = _hidden(model, [encoded[row] for row in rows], layers)
        mine = np.flatnonzero(np.isin(read.sentence[there], rows))
        words = there[mine]
        place = np.empty(len(order), dtype=np.int64)
        place[rows] = np.arange(len(rows)) * states[0].shape[1]
        shift = place[read.sentence[words]]
        first, last = (torch.from_numpy(tokens[words] + shift) for tokens in (read.first, read.last))
        for layer, hidden in enumerate(states):
            found[layer, mine] = pool_words(hidden.flatten(0, 1), first, last, pieces).numpy()
        yield (start + len(rows)) / len(order)
    return found


@no_grad
def _hidden(model: Explorer, encoded: list[Encoded], layers: Sequence[int]) -> list[torch.Tensor]:
    states = islice(model.run_padded(model.pad(encoded)), layers[-1] + 1)
    return [hidden for layer, hidden in enumerate(states) if layer in layers]


def word_vectors(model: Explorer, read: ReadWords, layer: int, pieces: str) -> np.ndarray:
    """[words, hidden] float32 of one hidden state, for the words that are read."""
    return finished(word_vectors_in_steps(model, read, [layer], pieces))[0]
