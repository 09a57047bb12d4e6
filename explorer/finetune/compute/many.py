"""Features and hidden states of the training texts: in memory, or for many texts in a memory-mapped file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
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
