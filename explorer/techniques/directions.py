"""Directions between hidden states: from one word to another, as the difference of their means over sentences of the corpus."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from weakref import ref

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.core.engine import inference_mode, torch
from explorer.core.errors import InputError
from explorer.text.corpora import built_in
from explorer.text.encoding import Encoding
from explorer.text.swaps import put

SENTENCES, FEWEST = 16, 4

_found: OnceCache[Hashable, Direction] = OnceCache(16)


@dataclass(frozen=True, eq=False)
class Direction:
    """From the mean vector of a word to that of another, and as far in a random direction: [states, hidden] each."""

    vectors: torch.Tensor
    random: torch.Tensor


def find_direction(model: Explorer, word: str, other: str) -> Direction:
    """The direction from one word to another in every hidden state, at the place of the word itself.

    The sentences are the shortest of the corpus with either word, each read once with each. Raises InputError if both are
    not a piece of this model's in FEWEST sentences.
    """
    return _found.get((ref(model), word, other), lambda: _find(model, word, other))


def random_direction(random: np.random.Generator, size: int) -> torch.Tensor:
    """A random direction of length 1, [size]."""
    drawn = torch.from_numpy(random.normal(size=size).astype(np.float32))
    return drawn / drawn.norm()


@inference_mode
def _find(model: Explorer, word: str, other: str) -> Direction:
    read: list[tuple[Encoding, int]] = []  # each sentence with the word, then with the other
    has = re.compile(rf"(?<!\w)({re.escape(word)}|{re.escape(other)})(?!\w)", re.IGNORECASE)
    for text in sorted(filter(has.search, built_in().texts), key=len):
        one, two = (model.encode(put(text, *words)) for words in ((other, word), (word, other)))
        places = [at for at, ids in enumerate(zip(one.ids, two.ids, strict=False)) if ids[0] != ids[1]]
        if len(places) == 1 and one.kept == two.kept:
            read += [(one, places[0]), (two, places[0])]
        if len(read) == 2 * SENTENCES:
            break
    if len(read) < 2 * FEWEST:
        raise InputError(f"This model reads {word} and {other} as several pieces, so they have no direction. Choose other words.")
    states = model.hidden_states_of([encoding for encoding, _ in read])
    there = torch.stack([of_text[:, place] for of_text, (_, place) in zip(states, read, strict=True)], 1)
    vectors = there[:, 1::2].mean(1) - there[:, ::2].mean(1)
    random = random_direction(np.random.default_rng(0), vectors.shape[-1])
    return Direction(vectors, vectors.norm(dim=-1, keepdim=True) * random)
