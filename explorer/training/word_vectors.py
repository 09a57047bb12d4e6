"""Where the words of sentences are among the tokens, and a vector for each: of its first piece, or the mean of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded
from explorer.core.engine import torch
from explorer.text.encoding import Encoding

PIECES = ("first", "mean")

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
