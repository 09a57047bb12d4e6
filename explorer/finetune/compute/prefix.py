"""The frozen layers of a model, run once: their hidden states are kept, and every epoch starts from them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import Encoded, encode
from explorer.bert.layer import Layer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import TRAINING_MEGABYTES
from explorer.text.lines import Pair

BATCH_SIZE = 32
EVERY_TOKEN = "tokens"  # a 'pooling' without pooling: every token keeps its vector
CUTS = (512, 256, 128, 64)  # tokens kept per text, the first that fits into the memory limit


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


@dataclass(frozen=True)
class Batch:
    """Encoded pairs of similar length: the ids and segments of each, and the rows of the input they come from."""

    rows: np.ndarray
    encoded: list[Encoded]


def cut_for(lengths: np.ndarray, most: float) -> int | None:
    """The most tokens per text with which all texts together have at most `most`; None if even the fewest are too many."""
    return next((cut for cut in CUTS if np.minimum(lengths, cut).sum() <= most), None)


def encoded_batches(model: Explorer, encoded: Sequence[Encoded], cut: int | None = None) -> Iterator[Batch]:
    """The encoded texts in batches of BATCH_SIZE, sorted by length to save padding.

    Texts are cut at `cut` tokens. Without it they are cut, all at the same length, when their hidden states would exceed the
    memory limit; raises InputError if that is not enough.
    """
    lengths = np.array([len(ids) for ids, _ in encoded])
    if cut is None:
        cut = cut_for(lengths, TRAINING_MEGABYTES.bytes / (4 * model.capabilities.hidden_size))
    if cut is None:
        raise InputError(TRAINING_MEGABYTES.tell(len(lengths)))
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        yield Batch(rows, [(shorten(encoded[row][0], cut), shorten(encoded[row][1], cut)) for row in rows])


def hidden_in_steps(model: Explorer, pairs: Sequence[Pair], layer: int, cut: int | None = None) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair, cut as `encoded_batches` says; yields the share done, 0 to 1."""
    return (yield from encoded_hidden_in_steps(model, encode(model, pairs), layer, cut))


def encoded_hidden_in_steps(
    model: Explorer, encoded: Sequence[Encoded], layer: int, cut: int | None = None
) -> Generator[float, None, Ragged]:
    """Like `hidden_in_steps`, for encoded texts; yields the share done after every batch."""
    parts: list[tuple[torch.Tensor, torch.Tensor]] = []
    rows: list[int] = []
    for batch in encoded_batches(model, encoded, cut):
        with torch.no_grad():
            hidden, real = hidden_of(model, batch, layer)
        parts.append((hidden[real], real.sum(1)))  # [real tokens, hidden], [batch]
        rows.extend(batch.rows)
        yield len(rows) / len(encoded)
    flat, lengths = (torch.cat([part[i] for part in parts]) for i in range(2))
    place = torch.from_numpy(np.argsort(rows))  # from the order of the batches back to that of the pairs
    return Ragged(flat, (lengths.cumsum(0) - lengths)[place], lengths[place])


def shorten(row: tuple[int, ...], cut: int) -> tuple[int, ...]:
    """At most `cut` entries; the last one, that of [SEP], is kept."""
    return row if len(row) <= cut else (*row[: cut - 1], row[-1])


def hidden_of(model: Explorer, batch: Batch, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Hidden state `layer` [batch, tokens, hidden] of a batch, and which tokens are real [batch, tokens]."""
    padded = model.pad(batch.encoded)
    return next(islice(model.run_padded(padded), layer, None)), padded.real


def run_layers(layers: Sequence[Layer], hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The output [batch, tokens, hidden] of some layers, with padding masked."""
    mask = None if bool(real.all()) else real
    for layer in layers:
        hidden = layer(hidden, mask)
    return hidden


def pool(hidden: torch.Tensor, real: torch.Tensor, pooling: str) -> torch.Tensor:
    """[batch, hidden]: the vector of [CLS] ("cls", and what a pooler reads) or the mean of all real tokens ("mean").

    With EVERY_TOKEN the vectors of all real tokens, text after text: [tokens, hidden].
    """
    if pooling == EVERY_TOKEN:
        return hidden[real]
    if pooling != "mean":
        return hidden[:, 0]
    return (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
