"""Features and hidden states of the training texts: in memory, or for many texts in a memory-mapped file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import encode, features_in_steps, width
from explorer.bert.readings import Reading, key_of, when_free
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import MEGABYTE, STATES_MEGABYTES, TEXTS, TRAINING_MEGABYTES
from explorer.core.steps import finished
from explorer.finetune.compute.prefix import Ragged, cut_for, hidden_in_steps
from explorer.text.lines import Pair

PART = 1024  # texts that are read and written at a time
PART_TOKENS = 2**16  # or texts with at most so many tokens: 100 MB at a hidden size of 384
HALF = np.dtype("<f2")  # hidden states in a file: half the space
SINGLE = np.dtype("<f4")

Part = tuple[np.ndarray, np.ndarray]  # vectors [all, hidden], and how many each text has


def text_features(model: Explorer, pairs: Sequence[Pair], layer: int, pooling: str) -> Generator[float, None, np.ndarray]:
    """[pairs, hidden] float32 features of pairs, as `features` has them; yields the share done, 0 to 1.

    For more pairs than TEXTS they come from a memory-mapped file, in which those computed before are found.
    """
    if len(pairs) <= TEXTS.most:
        return (yield from features_in_steps(model, pairs, layer, pooling))

    def read(start: int, end: int) -> Part:
        vectors = finished(features_in_steps(model, pairs[start:end], layer, pooling, keep=False))
        return vectors, np.ones(len(vectors))

    ends = np.append(np.arange(PART, len(pairs), PART), len(pairs))
    kind = SINGLE, width(model, layer, pooling)
    found = yield from _read_in_parts(model, pairs, ("features", layer, pooling), kind, len(pairs), ends, read)
    return found.rows()


def hidden_states(model: Explorer, pairs: Sequence[Pair], layer: int) -> Generator[float, None, Ragged]:
    """Hidden state `layer` (an index) of every pair; yields the share done, 0 to 1.

    Beyond TRAINING_MEGABYTES they come from a memory-mapped file, in which those computed before are found. Beyond
    STATES_MEGABYTES all texts are cut to the same length; raises InputError if that is not enough.
    """
    lengths = yield from _count_tokens(model, pairs)
    hidden = model.capabilities.hidden_size
    if 4 * hidden * lengths.sum() <= TRAINING_MEGABYTES.bytes:
        return (yield from hidden_in_steps(model, pairs, layer))
    size = HALF.itemsize * hidden  # per token
    cut = cut_for(lengths, STATES_MEGABYTES.bytes / size)
    if cut is None:
        raise InputError(STATES_MEGABYTES.tell(round(size * lengths.sum() / MEGABYTE)))
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
    """[pairs] the number of tokens of each, for this model."""
    counts: list[int] = []
    for start in range(0, len(pairs), PART):
        counts += [len(ids) for ids, _ in encode(model, pairs[start : start + PART])]
        yield 0.0
    return np.array(counts)


def _ends(lengths: np.ndarray) -> np.ndarray:
    """The ends of parts with at most PART texts and PART_TOKENS tokens, or with a single longer text."""
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
    """Compute and write the missing texts, part by part; concurrent callers with the same request wait.

    The file has `rows` rows of `kind`: the type of a number, and how many there are in a row.
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
