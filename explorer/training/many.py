"""What the frozen part gives of the texts of a training: in memory, or of many texts in a file, read part by part."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

import numpy as np

from explorer.base.engine import torch
from explorer.base.errors import InputError
from explorer.base.limits import MEGABYTE, READING_MEGABYTES, TEXTS, TRAINING_MEGABYTES
from explorer.base.steps import finished
from explorer.model.explorer import Explorer
from explorer.model.features import encode, features_in_steps, width
from explorer.model.readings import Reading, key_of, when_free
from explorer.text.pairs import Pair
from explorer.training.prefix import Ragged, cut_for, hidden_in_steps

PART = 1024  # texts that are read, and then written, together
PART_TOKENS = 2**16  # or as many as have so many tokens: 100 MB of a hidden size of 384
HALF = np.dtype("<f2")  # hidden states in a file: half the disk, and finer than the bfloat16 that they were computed in
SINGLE = np.dtype("<f4")

Part = tuple[np.ndarray, np.ndarray]  # vectors [all, hidden], and how many each text has


def text_features(model: Explorer, pairs: Sequence[Pair], layer: int, pooling: str) -> Generator[float, None, np.ndarray]:
    """[pairs, hidden] float32 features of pairs, as `features` has them; yields the share done, 0 to 1.

    Of more than TEXTS they come from a file that is mapped into memory, and what was read before is found there.
    """
    if len(pairs) <= TEXTS.most:
        return (yield from features_in_steps(model, pairs, layer, pooling))

    def read(start: int, end: int) -> Part:
        vectors = finished(features_in_steps(model, pairs[start:end], layer, pooling, "fast", keep=False))
        return vectors, np.ones(len(vectors))

    ends = np.append(np.arange(PART, len(pairs), PART), len(pairs))
    kind = SINGLE, width(model, layer, pooling)
    found = yield from _read_in_parts(model, pairs, ("features", layer, pooling), kind, len(pairs), ends, read)
    return found.rows()


def hidden_states(model: Explorer, pairs: Sequence[Pair], layer: int) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair; yields the share done, 0 to 1.

    What is more than TRAINING_MEGABYTES comes from a file that is mapped into memory, and what was read before is found
    there. Texts are cut, all at one length, when they are more than READING_MEGABYTES; InputError if that is too little.
    """
    lengths = yield from _count_tokens(model, pairs)
    hidden = model.capabilities.hidden_size
    if 4 * hidden * lengths.sum() <= TRAINING_MEGABYTES.bytes:
        return (yield from hidden_in_steps(model, pairs, layer))
    size = HALF.itemsize * hidden  # of a token
    cut = cut_for(lengths, READING_MEGABYTES.bytes / size)
    if cut is None:
        raise InputError(READING_MEGABYTES.tell(round(size * lengths.sum() / MEGABYTE)))
    lengths = np.minimum(lengths, cut)

    def read(start: int, end: int) -> Part:
        states = finished(hidden_in_steps(model, pairs[start:end], layer, cut))
        places = zip(states.starts.tolist(), states.lengths.tolist(), strict=True)
        return torch.cat([states.flat[place : place + length] for place, length in places]).numpy(), states.lengths.numpy()

    kind = HALF, hidden
    found = yield from _read_in_parts(model, pairs, ("hidden", layer, cut), kind, int(lengths.sum()), _ends(lengths), read)
    counts = torch.from_numpy(found.lengths())
    return Ragged(torch.from_numpy(found.rows()), counts.cumsum(0) - counts, counts)


def _count_tokens(model: Explorer, pairs: Sequence[Pair]) -> Generator[float, None, np.ndarray]:
    """[pairs] how many tokens the model reads of each."""
    counts: list[int] = []
    for start in range(0, len(pairs), PART):
        counts += [len(ids) for ids, _ in encode(model, pairs[start : start + PART])]
        yield 0.0
    return np.array(counts)


def _ends(lengths: np.ndarray) -> np.ndarray:
    """Where parts end that have at most PART texts, and PART_TOKENS tokens or one text."""
    ends, texts, tokens = [], 0, 0
    for place, length in enumerate(lengths.tolist()):
        if texts and (texts == PART or tokens + length > PART_TOKENS):
            ends.append(place)
            texts = tokens = 0
        texts, tokens = texts + 1, tokens + length
    return np.array([*ends, len(lengths)])


def _read_in_parts(
    model: Explorer,
    pairs: Sequence[Pair],
    what: tuple[object, ...],
    kind: tuple[np.dtype, int],
    rows: int,
    ends: np.ndarray,
    read: Callable[[int, int], Part],
) -> Generator[float, None, Reading]:
    """Read what is missing of the texts and write it, part by part; who reads the same at the same time waits.

    It is so many rows of a `kind`, how a number is written and how many there are in a row.
    """
    dtype, wide = kind

    def fill(folder: Path) -> Generator[float, None, Reading]:
        found = Reading(folder, wide, dtype)
        first = len(found.lengths())
        yield first / len(pairs)

        def parts(start: int = first) -> Iterator[Part]:
            for end in ends[ends > start].tolist():
                yield read(start, end)
                start = end

        for done in found.append(parts()):
            yield done / len(pairs)
        return found

    return (yield from when_free(key_of(model, pairs, *what), rows * wide * dtype.itemsize, fill))
