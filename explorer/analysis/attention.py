"""Selecting and reducing attention weights for display. Pure functions of arrays; rows are queries, columns are keys."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from explorer.text.encoding import Encoding

GROUPS = ("tokens", "words", "sentences")
DIRECTIONS = ("all", "A→A", "A→B", "B→A", "B→B")
WHOLE_SCALE = 64  # tokens up to which a scale from 0 to 1 shows an evenly spread head: √(1/64) is an eighth of the ramp
EVEN_TIMES = 8  # for more tokens, so that even weights are drawn with √(1/8), a third of the ramp, at most


class Choice(NamedTuple):
    """The part of a weight matrix to show.

    `specials`: "all" tokens, [CLS] and [SEP] "hidden" (rows then sum to less than 1), or hidden with each row divided by its
    remaining sum ("renormalised"). `direction`: queries of one text and keys of another. `group`: weights of words or sentences,
    summed over key pieces and averaged over query pieces. `top_p`: of each row only the smallest set of weights with this share
    of its sum.
    """

    specials: str = "all"
    direction: str = "all"
    group: str = "tokens"
    top_p: float = 1.0


class Side(NamedTuple):
    """The rows or the columns of the part shown: their names and kinds, and the tokens that each stands for.

    The name of a sentence is its whole text.
    """

    names: list[str]
    kinds: list[str]
    groups: list[list[int]]

    @property
    def places(self) -> list[int]:
        """The zero-based first token of each row or column."""
        return [group[0] for group in self.groups]

    def row_of(self, token: int | None) -> int | None:
        """The row of the zero-based token, None when it is not shown."""
        return next((row for row, group in enumerate(self.groups) if token in group), None)


class ChosenWeights(NamedTuple):
    """The selected weights [queries, keys], with their rows and columns."""

    weights: np.ndarray
    queries: Side
    keys: Side


def choose(weights: np.ndarray, encoding: Encoding, choice: Choice) -> ChosenWeights:
    """The selected part of weights [n, n]: first grouped, then without specials, in one direction, and with top-p last."""
    groups = {"words": encoding.word_groups, "sentences": encoding.sentence_groups}.get(choice.group)
    if groups is None:
        groups = [[token] for token in range(len(encoding.tokens))]
    else:
        weights = merge(weights, groups)
    special = np.array([encoding.kinds[group[0]] == "special" for group in groups])
    segments = np.array([encoding.segments[group[0]] for group in groups])
    kept = ~special if choice.specials != "all" else np.ones(len(groups), dtype=bool)
    if choice.specials == "renormalised":
        weights = renormalize(weights * kept)
    queries, keys = kept, kept
    if choice.direction != "all":
        queries, keys = (kept & (segments == "AB".index(letter)) for letter in choice.direction.split("→"))
    shown = top_p(weights[np.ix_(queries, keys)], choice.top_p)
    names = encoding.names[choice.group]

    def side(kept: np.ndarray) -> Side:
        chosen = np.flatnonzero(kept).tolist()
        kinds = [encoding.kinds[groups[row][0]] for row in chosen]
        return Side([names[row] for row in chosen], kinds, [groups[row] for row in chosen])

    return ChosenWeights(shown, side(queries), side(keys))


def merge(weights: np.ndarray, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """Weights of pieces [n, n] as those of words [m, m]: summed over key pieces, averaged over query pieces; row sums stay.

    Clark et al. 2019, section 4.1. The groups are consecutive runs of the tokens 0 to n − 1.
    """
    starts = [group[0] for group in groups]
    lengths = np.array([len(group) for group in groups], dtype=weights.dtype)
    return np.add.reduceat(np.add.reduceat(weights, starts, axis=1), starts, axis=0) / lengths[:, None]


def renormalize(weights: np.ndarray) -> np.ndarray:
    """Each row of [..., n] divided by its sum; rows of zeros stay zero."""
    sums = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(sums == 0, 1, sums)


def top_p(weights: np.ndarray, share: float) -> np.ndarray:
    """For each row of [n, m] the smallest set of weights with `share` of the row's sum; the others become 0."""
    if share >= 1 or 0 in weights.shape:
        return weights
    order = np.argsort(-weights, axis=1, kind="stable")
    ranked = np.take_along_axis(weights, order, axis=1).astype(np.float64)
    before = np.cumsum(ranked, axis=1) - ranked  # the sum of the stronger ones
    needed = before < (share - 1e-6) * ranked.sum(axis=1, keepdims=True)  # weights are rounded to float32
    kept = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(kept, order, needed, axis=1)
    return np.where(kept, weights, 0).astype(weights.dtype)


def thumbnails(attention: np.ndarray, size: int = 36) -> np.ndarray:
    """Small pictures of heads: [..., n, n] reduced to at most [..., size, size] by the maximum, so that thin lines survive."""
    tokens = attention.shape[-1]
    if tokens <= size:
        return attention
    edges = np.arange(size + 1) * tokens // size
    blocks = list(itertools.pairwise(edges))  # ten times as fast as maximum.reduceat
    rows = np.stack([attention[..., start:end, :].max(axis=-2) for start, end in blocks], axis=-2)
    return np.stack([rows[..., start:end].max(axis=-1) for start, end in blocks], axis=-1)


def scale_end(largest: float | np.ndarray, tokens: int, whole: float = 1.0) -> Any:
    """Where the colour scale of weights ends: at `whole`, the sum of a row, so that pictures can be compared.

    The weights of a long input are too small for that: its scales end at the largest, or at eight times the even weight.
    """
    return np.maximum(largest, whole if tokens <= WHOLE_SCALE else EVEN_TIMES * whole / tokens)


def rows_error(attention: np.ndarray) -> float:
    """The largest deviation of a row sum of [..., n, n] from 1."""
    return float(np.abs(attention.sum(-1, dtype=np.float64) - 1).max())
