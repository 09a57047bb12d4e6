"""Whether the heads of an atlas follow syntax more than chance: tests against the best fixed offset, and split halves.

'Some relation' is the best of many: each head is tried at every relation in two directions. What is tested is therefore
corrected for all of these tests, and what one half of the sentences finds is tested on the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.analysis.resampling import benjamini_hochberg, halve_groups, sign_flip

LEVEL = 0.05  # of false discoveries among what is called significant, and of chance in the test on the other half
TESTED = 2_000  # sentences at most, at random; one takes up to 30 kB, and intervals are narrow enough by then


@dataclass(frozen=True, eq=False)
class Evidence:
    """`q` [layers, heads, DIRECTIONS, relations], and how many heads pass in one half of the sentences and hold in the other.

    A head passes with a test of q ≤ LEVEL in which it is better than the offset; it holds if its clearest test is so again on
    the other half, alone, with p ≤ LEVEL.
    """

    q: np.ndarray
    passing: int
    holding: int


def sampled_sentences(sentences: int) -> np.ndarray:
    """[sentences] the place of each among those that are tested, -1 for the others."""
    chosen = np.sort(np.random.default_rng(0).permutation(sentences)[:TESTED])
    places = np.full(sentences, -1)
    places[chosen] = np.arange(len(chosen))
    return places


def evidence(gains: np.ndarray) -> Evidence:
    """The evidence in `gains` [sentences, layers, heads, DIRECTIONS, relations].

    A gain is the number of words of a sentence for which a head is right, minus that for which the best offset is. Two-sided
    sign-flip tests over sentences, so that the words of a sentence need not be independent; Benjamini-Hochberg over all tests.
    """
    q = benjamini_hochberg(_p_values(gains))
    selecting, testing = halve_groups(np.arange(len(gains)))
    first = gains[selecting]
    chosen = _clearest(_p_values(first), first.sum(0, dtype=np.int64))
    again = gains[testing].reshape(len(testing), -1)[:, chosen]
    holding = (again.sum(0, dtype=np.int64) > 0) & (sign_flip(again) <= LEVEL)
    return Evidence(q, len(chosen), int(holding.sum()))


def _clearest(p: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """The flat index of the clearest test of each head that passes: the lowest p, and the largest gain among equals."""
    layers, heads = p.shape[:2]
    flat = p.reshape(layers * heads, -1)
    gained = gains.reshape(flat.shape)
    passes = (benjamini_hochberg(flat) <= LEVEL) & (gained > 0)
    rows = np.flatnonzero(passes.any(axis=1))
    order = np.lexsort((-gained, np.where(passes, flat, np.inf)), axis=1) if flat.size else np.empty((0, 0), np.int64)
    return rows * flat.shape[1] + order[rows, 0] if len(rows) else np.empty(0, np.int64)


def _p_values(gains: np.ndarray) -> np.ndarray:
    """[layers, heads, DIRECTIONS, relations] of a sign-flip test over the sentences in which head and offset differ."""
    found = np.ones(gains.shape[1:])
    for relation in range(gains.shape[-1]):
        own = gains[..., relation]
        if len(differing := own[own.any(axis=(1, 2, 3))]):
            found[..., relation] = sign_flip(differing)
    return found
