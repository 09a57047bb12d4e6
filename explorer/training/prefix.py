"""The frozen part of a model, run once: its hidden states, kept so that training can go on from them again and again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from explorer.base.engine import torch
from explorer.base.errors import InputError
from explorer.base.limits import TRAINING_MEGABYTES
from explorer.model.devices import bfloat16_is_fast
from explorer.model.explorer import Explorer
from explorer.model.features import encode
from explorer.model.layer import Layer
from explorer.model.pooled import Encoded
from explorer.text.pairs import Pair

BATCH_SIZE = 32
EVERY_TOKEN = "tokens"  # as a pooling: none, each token has its own vector
CUTS = (512, 256, 128, 64)  # tokens of a text that are kept, when keeping more would be more than may be kept


@dataclass(frozen=True)
class Ragged:
    """The hidden states of many texts without padding: `flat` [all tokens, hidden], text i from `starts[i]` on."""

    flat: torch.Tensor
    starts: torch.Tensor  # [texts]
    lengths: torch.Tensor  # [texts]

    def batch(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The texts `rows`, padded: hidden [batch, tokens, hidden] and which tokens are real [batch, tokens]."""
        places = torch.arange(int(self.lengths[rows].max()))
        real = places < self.lengths[rows, None]
        hidden = self.flat[(self.starts[rows, None] + places).clamp_max(len(self.flat) - 1)]
        return hidden.float() * real[..., None], real


def precision() -> AbstractContextManager:
    """bf16 for the large matrix products where the processor multiplies it natively; elsewhere nothing changes."""
    return torch.autocast("cpu", torch.bfloat16, enabled=bfloat16_is_fast(torch.device("cpu")))


@dataclass(frozen=True)
class Batch:
    """Encoded pairs of like length, the ids and segments of each, and which rows of the input they are."""

    rows: np.ndarray
    encoded: list[Encoded]


def cut_for(lengths: np.ndarray, most: float) -> int | None:
    """How many tokens of every text are kept so that all together are at most `most`; None when that is too little."""
    return next((cut for cut in CUTS if np.minimum(lengths, cut).sum() <= most), None)


def encoded_batches(model: Explorer, encoded: Sequence[Encoded], cut: int | None = None) -> Iterator[Batch]:
    """What the model reads, BATCH_SIZE texts at a time, those of like length together: little padding.

    Texts are cut at `cut` tokens. Without one they are cut, all at one length, when their hidden states are more than may
    be kept in memory; InputError if that is too little.
    """
    lengths = np.array([len(ids) for ids, _ in encoded])
    if cut is None:
        cut = cut_for(lengths, TRAINING_MEGABYTES.bytes / (4 * model.capabilities.hidden_size))
    if cut is None:
        raise InputError(TRAINING_MEGABYTES.tell(len(lengths)))
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        yield Batch(rows, [(_shorten(encoded[row][0], cut), _shorten(encoded[row][1], cut)) for row in rows])


def hidden_in_steps(model: Explorer, pairs: Sequence[Pair], layer: int, cut: int | None = None) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair, cut as `encoded_batches` says; yields the share done, 0 to 1."""
    return (yield from encoded_hidden_in_steps(model, encode(model, pairs), layer, cut))


def encoded_hidden_in_steps(
    model: Explorer, encoded: Sequence[Encoded], layer: int, cut: int | None = None
) -> Generator[float, None, Ragged]:
    """The same of texts that are encoded; yields after every batch."""
    parts: list[tuple[torch.Tensor, torch.Tensor]] = []
    rows: list[int] = []
    for batch in encoded_batches(model, encoded, cut):
        with torch.no_grad(), precision():
            hidden, real = hidden_of(model, batch, layer)
        parts.append((hidden.float()[real], real.sum(1)))  # [real tokens, hidden], [batch]
        rows.extend(batch.rows)
        yield len(rows) / len(encoded)
    flat, lengths = (torch.cat([part[i] for part in parts]) for i in range(2))
    place = torch.from_numpy(np.argsort(rows))  # from the order of the batches back to that of the pairs
    return Ragged(flat, (lengths.cumsum(0) - lengths)[place], lengths[place])


def _shorten(row: tuple[int, ...], cut: int) -> tuple[int, ...]:
    """At most `cut` entries; the last one, of [SEP], stays."""
    return row if len(row) <= cut else (*row[: cut - 1], row[-1])


def hidden_of(model: Explorer, batch: Batch, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Hidden state `layer` [batch, tokens, hidden] of a batch, and which tokens are real [batch, tokens]."""
    padded = model.pad(batch.encoded)
    return run_layers(model.layers[:layer], model.embed_padded(padded), padded.real), padded.real


def run_layers(layers: Sequence[Layer], hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """What layers make of hidden states [batch, tokens, hidden]; padding is looked at by nobody."""
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
