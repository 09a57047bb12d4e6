"""The frozen layers of a model, run once: their output stays in memory, and every epoch starts from it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded, encode, features_in_steps
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import TEXTS, TRAINING_MEGABYTES
from explorer.core.steps import finished
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.tagging import WordPlaces

BATCH_SIZE = 32
EVERY_TOKEN = "tokens"  # a 'pooling' without pooling: every token keeps its vector
CUTS = (512, 256, 128, 64)  # tokens kept per text, the first that fits into the memory limit
PART = 1024  # texts whose features are read together: all hidden states of each are in memory meanwhile


@dataclass(frozen=True)
class Ragged:
    """The hidden states of many texts without padding: `flat` [all tokens, hidden], text i from `starts[i]` on."""

    flat: torch.Tensor
    starts: torch.Tensor  # [texts]
    lengths: torch.Tensor  # [texts]

    def batch(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The texts `rows`, padded: hidden [batch, tokens, hidden] float32, and which tokens are real [batch, tokens]."""
        places = torch.arange(int(self.lengths[rows].max()))
        real = places < self.lengths[rows, None]
        hidden = self.flat[(self.starts[rows, None] + places).clamp_max(len(self.flat) - 1)]
        return hidden.float() * real[..., None], real

    def tokens(self, rows: torch.Tensor) -> torch.Tensor:
        """[all their tokens, hidden]: the texts `rows`, one after another."""
        places = zip(self.starts[rows].tolist(), self.lengths[rows].tolist(), strict=True)
        return torch.cat([self.flat[start : start + length] for start, length in places])


@dataclass(frozen=True, eq=False)
class Prefix:
    """The output of the frozen layers for some examples.

    Batches are made of rows: texts, words, sentences or windows. What the head scores of them has one target each.
    """

    states: np.ndarray | Ragged  # [rows, hidden] that a head reads, or hidden states for layers to train or every token
    example: np.ndarray  # [rows] the index of the example to which a row belongs
    targets: np.ndarray  # the index, among the targets of all examples, of everything that is scored
    words: WordPlaces | None = None  # where rows are sentences and words are scored

    def split(self, parts: Split) -> Split:
        """The rows of a split of the examples."""
        return Split(*(np.flatnonzero(np.isin(self.example, part)) for part in parts))

    def scored(self, rows: torch.Tensor) -> torch.Tensor:
        """The indices of what is scored of these rows."""
        return rows if self.words is None else self.words.words(rows)

    def select(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[scored, hidden]: what the head reads, from what the layers above the frozen ones give for `rows`."""
        return given if self.words is None else self.words.pool(given, rows)


def cut_for(lengths: np.ndarray, most: float) -> int | None:
    """The most tokens per text with which all texts together have at most `most`; None if even the fewest are too many."""
    return next((cut for cut in CUTS if np.minimum(lengths, cut).sum() <= most), None)


def hidden_in_steps(model: Explorer, pairs: Sequence[Pair], layer: int, cut: int | None = None) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair, cut as `encoded_hidden_in_steps` says; yields the share done, 0 to 1."""
    return (yield from encoded_hidden_in_steps(model, encode(model, pairs), layer, cut))


def encoded_hidden_in_steps(
    model: Explorer, encoded: Sequence[Encoded], layer: int, cut: int | None = None
) -> Generator[float, None, Ragged]:
    """Like `hidden_in_steps`, for encoded texts, in batches of similar length; yields the share done after every batch.

    Texts are cut at `cut` tokens. Without it they are cut, all at the same length, when their hidden states would exceed the
    memory limit; raises InputError if that is not enough.
    """
    lengths = np.array([len(ids) for ids, _ in encoded])
    cut = cut or cut_for(lengths, TRAINING_MEGABYTES.bytes / (4 * model.capabilities.hidden_size))
    if cut is None:
        raise InputError(TRAINING_MEGABYTES.tell(len(lengths)))
    order, parts = np.argsort(lengths, kind="stable"), []
    for start in range(0, len(order), BATCH_SIZE):
        rows = [encoded[row] for row in order[start : start + BATCH_SIZE]]
        padded = model.pad([(shorten(ids, cut), shorten(segments, cut)) for ids, segments in rows])
        with torch.no_grad():
            hidden = next(islice(model.run_padded(padded), layer, None))
        parts.append(hidden[padded.real])  # [real tokens, hidden]
        yield (start + len(rows)) / len(encoded)
    kept = np.minimum(lengths, cut)
    starts = np.empty_like(kept)
    starts[order] = kept[order].cumsum() - kept[order]
    return Ragged(torch.cat(parts), torch.from_numpy(starts), torch.from_numpy(kept))


def shorten(row: tuple[int, ...], cut: int) -> tuple[int, ...]:
    """At most `cut` entries; the last one, that of [SEP], is kept."""
    return row if len(row) <= cut else (*row[: cut - 1], row[-1])


def text_features(model: Explorer, pairs: Sequence[Pair], layer: int, pooling: str) -> Generator[float, None, np.ndarray]:
    """[pairs, hidden] float32 features of pairs, as `features` has them; yields the share done, 0 to 1.

    More pairs than TEXTS are read part by part, and not cached.
    """
    if len(pairs) <= TEXTS.most:
        return (yield from features_in_steps(model, pairs, layer, pooling))
    parts = []
    for start in range(0, len(pairs), PART):
        yield start / len(pairs)
        parts.append(finished(features_in_steps(model, pairs[start : start + PART], layer, pooling, keep=False)))
    return np.concatenate(parts)
