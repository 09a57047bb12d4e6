"""The frozen layers of a model, run once: their output is kept, and every epoch starts from it.

It stays in memory, or for many texts in a memory-mapped file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded, encode, features_in_steps, width
from explorer.bert.readings import Reading, key_of, when_free
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import MEGABYTE, STATES_MEGABYTES, TEXTS, TRAINING_MEGABYTES
from explorer.core.steps import finished
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.word_vectors import WordPlaces

BATCH_SIZE = 32
EVERY_TOKEN = "tokens"  # a 'pooling' without pooling: every token keeps its vector
CUTS = (512, 256, 128, 64)  # tokens kept per text, the first that fits into the memory limit
PART, PART_TOKENS = 1024, 2**16  # texts and tokens that are read and written at a time: 100 MB at a hidden size of 384
HALF, SINGLE = np.dtype("<f2"), np.dtype("<f4")  # in a file, hidden states take half the space

Part = tuple[np.ndarray, np.ndarray]  # vectors [all, hidden], and how many each text has


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

    For more pairs than TEXTS they come from a memory-mapped file, in which those computed before are found.
    """
    if len(pairs) <= TEXTS.most:
        return (yield from features_in_steps(model, pairs, layer, pooling))

    def read(start: int, end: int) -> Part:
        vectors = finished(features_in_steps(model, pairs[start:end], layer, pooling, keep=False))
        return vectors, np.ones(len(vectors))

    kind = SINGLE, width(model, layer, pooling)
    lengths = np.ones(len(pairs), dtype=np.int64)
    return (yield from _read_in_parts(model, pairs, ("features", layer, pooling), kind, lengths, read)).rows()


def hidden_states(model: Explorer, pairs: Sequence[Pair], layer: int) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair; yields the share done, 0 to 1.

    Beyond TRAINING_MEGABYTES they come from a memory-mapped file, in which those computed before are found. Beyond
    STATES_MEGABYTES all texts are cut to the same length; raises InputError if that is not enough.
    """
    counts: list[int] = []  # of tokens
    for start in range(0, len(pairs), PART):
        counts += [len(ids) for ids, _ in encode(model, pairs[start : start + PART])]
        yield 0.0
    lengths, hidden = np.array(counts), model.capabilities.hidden_size
    if 4 * hidden * lengths.sum() <= TRAINING_MEGABYTES.bytes:
        return (yield from hidden_in_steps(model, pairs, layer))
    size = HALF.itemsize * hidden  # per token
    cut = cut_for(lengths, STATES_MEGABYTES.bytes / size)
    if cut is None:
        raise InputError(STATES_MEGABYTES.tell(round(size * lengths.sum() / MEGABYTE)))

    def read(start: int, end: int) -> Part:
        states = finished(hidden_in_steps(model, pairs[start:end], layer, cut))
        return states.tokens(torch.arange(end - start)).numpy(), states.lengths.numpy()

    kind = HALF, hidden
    found = yield from _read_in_parts(model, pairs, ("hidden", layer, cut), kind, np.minimum(lengths, cut), read)
    kept = torch.from_numpy(found.lengths())
    return Ragged(torch.from_numpy(found.rows()), kept.cumsum(0) - kept, kept)


def _ends(lengths: np.ndarray) -> list[int]:
    """The ends of parts with at most PART texts and PART_TOKENS rows, or with a single longer text."""
    ends, first, tokens = [], 0, 0
    for place, length in enumerate(lengths.tolist()):
        if place > first and (place - first == PART or tokens + length > PART_TOKENS):
            ends.append(place)
            first, tokens = place, 0
        tokens += length
    return [*ends, len(lengths)]


def _read_in_parts(
    model: Explorer,
    pairs: Sequence[Pair],
    what: tuple[object, ...],
    kind: tuple[np.dtype, int],
    lengths: np.ndarray,
    read: Callable[[int, int], Part],
) -> Generator[float, None, Reading]:
    """Compute and write the missing texts, part by part; concurrent callers with the same request wait.

    The file has `lengths` [texts] rows of each text, of `kind`: the type of a number, and how many there are in a row.
    """
    dtype, wide = kind

    def fill(folder: Path) -> Generator[float, None, Reading]:
        found = Reading(folder, wide, dtype)
        first = len(found.lengths())
        yield first / len(pairs)
        ends = [end for end in _ends(lengths) if end > first]
        for done in found.append(read(*part) for part in pairwise([first, *ends])):
            yield done / len(pairs)
        return found

    return (yield from when_free(key_of(model, pairs, *what), int(lengths.sum()) * wide * dtype.itemsize, fill))
