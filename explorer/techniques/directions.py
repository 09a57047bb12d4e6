"""Directions between hidden states: from one word to another, as the difference of their means over sentences of the corpus.

And concept erasure: the affine map that takes a concept out of vectors and moves them least (LEACE, Belrose et al. 2023).
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NamedTuple
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
LEAST = 0.01  # singular values of the whitened cross-covariance below this are noise, as in the package concept-erasure

_found: OnceCache[Hashable, Direction] = OnceCache(16)


class Direction(NamedTuple):
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


class Eraser(NamedTuple):
    """x ↦ x − L R (x − mean), for `left` L [..., hidden, rank] and `right` R [..., rank, hidden]: one map, or several."""

    mean: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors [..., n, hidden] without the subspace."""
        return vectors - (vectors - self.mean) @ self.right.mT @ self.left.mT


def fit_erasers(vectors: torch.Tensor, labels: torch.Tensor, draws: int, seed: int = 0) -> tuple[Eraser, Eraser]:
    """The eraser of labels [n], classes from 0, from vectors [n, hidden], and `draws` that erase a random subspace of its rank.

    The closed form of Belrose et al. 2023, theorem 4.3: no linear classifier of the erased vectors does better than a constant.
    The covariance is shrunk as by Bodnar et al. 2014, since there may be fewer vectors than numbers in one. The random subspaces
    are erased by the same form, with directions that are uniform where the vectors are whitened.
    """
    inputs = vectors.double()
    classes = torch.nn.functional.one_hot(labels).double()
    mean = inputs.mean(0)
    centred = inputs - mean
    values, axes = torch.linalg.eigh(_shrunk(centred.T @ centred / len(inputs), len(inputs)))
    there = values > values[-1] * len(values) * torch.finfo(values.dtype).eps
    values = values.clamp_min(torch.finfo(values.dtype).tiny)
    whiten = axes * torch.where(there, values.rsqrt(), 0) @ axes.T
    back = axes * torch.where(there, values.sqrt(), 0) @ axes.T
    crossed = centred.T @ (classes - classes.mean(0)) / (len(inputs) - 1)
    directions, sizes, _ = torch.linalg.svd(whiten @ crossed, full_matrices=False)
    own = directions[:, sizes > LEAST]
    source = torch.Generator().manual_seed(seed)
    random = torch.linalg.qr(torch.randn(draws, *own.shape, generator=source, dtype=own.dtype)).Q
    given = mean.to(vectors.dtype)
    maps = ((back @ found, found.mT @ whiten) for found in (own, random))
    erasers = [Eraser(given, left.to(vectors.dtype), right.to(vectors.dtype)) for left, right in maps]
    return erasers[0], erasers[1]


def _shrunk(covariance: torch.Tensor, count: int) -> torch.Tensor:
    """A covariance [hidden, hidden] of `count` vectors, shrunk towards a multiple of the identity (Bodnar et al. 2014)."""
    trace, size = covariance.trace(), len(covariance)
    level, squared = trace / size, (covariance**2).sum()
    spread = squared - trace**2 / size
    least = torch.finfo(covariance.dtype).tiny
    share = (trace**2 / count / spread.clamp_min(least)).clamp(0, 1)
    return (1 - share) * covariance + share * level * torch.eye(size, dtype=covariance.dtype)
