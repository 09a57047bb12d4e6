"""Where the words of sentences are among the tokens, and a vector for each: of its first piece, or the mean of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.text.encoding import Encoding

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

    spans: list[torch.Tensor]  # for each sentence [words read, 2]: the first and the last token of a word
    lengths: torch.Tensor
    starts: np.ndarray  # [sentences] index of its first word among all that are read
    read: np.ndarray  # [words read] their indices among all words
    pieces: str  # one of PIECES

    @classmethod
    def of(cls, places: Sequence[np.ndarray], lengths: torch.Tensor, pieces: str) -> WordPlaces:
        """The words of sentences from the output of `read_words`."""
        last = lengths.numpy() - 2
        masks = [(spans[:, 0] >= 0) & (spans[:, 0] <= end) for spans, end in zip(places, last, strict=True)]
        kept = [np.minimum(spans[mask], end) for spans, mask, end in zip(places, masks, last, strict=True)]
        counts = np.array(list(map(len, kept)))
        return cls(
            [torch.from_numpy(spans) for spans in kept],
            lengths,
            counts.cumsum() - counts,
            np.flatnonzero(np.concatenate(masks)),
            pieces,
        )

    @property
    def sentence(self) -> np.ndarray:
        """[words read] the index of the sentence of each."""
        return np.repeat(np.arange(len(self.spans)), list(map(len, self.spans)))

    def words(self, rows: torch.Tensor) -> torch.Tensor:
        """The indices, among all words read, of those in the sentences `rows`, in their order."""
        return torch.cat([torch.arange(len(self.spans[row])) + int(self.starts[row]) for row in rows.tolist()])

    def pool(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[words, hidden] from the vectors [tokens, hidden] of all tokens of the sentences `rows`, one sentence after another."""
        lengths = self.lengths[rows]
        shifts = (lengths.cumsum(0) - lengths).tolist()
        first, last = torch.cat([self.spans[row] + shift for row, shift in zip(rows.tolist(), shifts, strict=True)]).T
        if self.pieces == "first":
            return given[first]
        counts = last - first + 1
        begins = counts.cumsum(0) - counts
        tokens = torch.arange(int(counts.sum())) + (first - begins).repeat_interleave(counts)
        return torch.nn.functional.embedding_bag(tokens, given, begins, mode="mean")
