"""Metrics, patterns and plain names of heads on one input. Pure functions of arrays; rows are queries, columns are keys."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from explorer.analysis.attention import scale_end, thumbnails
from explorer.core.paths import ASSETS
from explorer.text.encoding import Encoding
from explorer.text.tagged import plain

CLEAR = 0.5  # a pattern needs half of the weight, as in the heads that Clark et al. describe
BROAD = 0.9  # of the maximum entropy


class Metric(NamedTuple):
    key: str
    label: str
    formula: str
    range: str
    source: str

    @property
    def short(self) -> str:
        """The label as the title of a narrow column: 'previous' for 'on the previous token'."""
        return self.label.removeprefix("on ").removeprefix("the ").replace(" token", "")


CLARK, VOITA = "Clark et al. 2019, section 3", "Voita et al. 2019, section"
METRICS = (
    Metric("entropy", "entropy", "mean over queries of −Σⱼ aᵢⱼ ln aᵢⱼ ÷ ln n", "0 (one token) to 1 (all equally)", f"{CLARK}.3"),
    Metric("distance", "mean distance", "mean over queries of Σⱼ aᵢⱼ |i − j|", "0 to n − 1 tokens", "Vig & Belinkov 2019"),
    Metric("confidence", "confidence", "mean over text tokens of the largest weight on one", "0 to 1", f"{VOITA} 4"),
    Metric("cls", "on [CLS]", "mean over queries of the weight on [CLS]", "0 to 1", f"{CLARK}.2"),
    Metric("sep", "on [SEP]", "mean over queries of the weight on every [SEP]", "0 to 1", f"{CLARK}.2"),
    Metric("self", "on itself", "mean of aᵢᵢ", "0 to 1", f"{CLARK}.1"),
    Metric("previous", "on the previous token", "mean of aᵢ,ᵢ₋₁ over the queries that have one", "0 to 1", f"{CLARK}.1"),
    Metric("next", "on the next token", "mean of aᵢ,ᵢ₊₁ over the queries that have one", "0 to 1", f"{CLARK}.1"),
    Metric(
        "same_token",
        "on the same token elsewhere",
        "mean over queries whose piece occurs again of the weight on the other places; 0 when none does",
        "0 to 1",
        "ours; heads that look so are ‘duplicate token heads’ in Wang et al. 2023",
    ),
    Metric(
        "ahead",
        "on later words",
        "mean over text tokens of the weight on those that come later",
        "0 to 1",
        "ours: decides which head 'If it were a decoder' opens with",
    ),
)
PATTERN_SOURCE = (
    "our rule; the diagonal and the special tokens as patterns after Kovaleva et al. 2019, section 4.1, heads by position after "
    f"{VOITA} 5, who ask where the largest weight is in 90% of cases"
)
PATTERN_RULE = (
    f"'broad' from an entropy of {BROAD:g}; otherwise named when it holds at least {CLEAR:.0%} of the weight, the largest share "
    "first, then 'diagonal' (itself and both neighbours), '[CLS] and [SEP]', 'same token'; everything else is 'mixed'"
)
NAMED = {"previous": "previous token", "next": "next token", "self": "itself", "sep": "[SEP]", "cls": "[CLS]"}


@dataclass(frozen=True)
class TokenFacts:
    """What the metrics need to know about the n tokens: ids [n], and whether they are [CLS] or [SEP] (bool [n] each)."""

    ids: np.ndarray
    cls: np.ndarray
    sep: np.ndarray

    @classmethod
    def of(cls, encoding: Encoding) -> "TokenFacts":
        """The facts of an encoding; the first token, if the tokenizer added it, is [CLS], other added ones are [SEP]."""
        added = np.array(encoding.sequences) < 0
        first = added & (np.arange(len(added)) == 0)
        return cls(np.array(encoding.ids), first, added & ~first)

    @property
    def words(self) -> np.ndarray:
        """Which tokens come from the text: bool [n]."""
        return ~(self.cls | self.sep)

    @cached_property
    def same(self) -> np.ndarray:
        """[n, n] float32: 1 where two different positions hold the same piece of the text."""
        same = (self.ids[:, None] == self.ids[None, :]) & self.words[:, None] & self.words[None, :]
        np.fill_diagonal(same, False)
        return same.astype(np.float32)

    @cached_property
    def ahead(self) -> np.ndarray:
        """[n, n] float32: 1 where query and key are from the text, and the key comes later."""
        return np.triu(self.words[:, None] & self.words[None, :], 1).astype(np.float32)


def head_metrics(attention: np.ndarray, facts: TokenFacts) -> dict[str, np.ndarray]:
    """All METRICS for the heads of one layer: attention [heads, n, n] → [heads] float64 each."""
    heads, n, _ = attention.shape
    flat = attention.reshape(heads, n * n)
    places = np.arange(n, dtype=np.float32)
    same = facts.same
    twice = same.any(axis=1).sum()
    return {
        "entropy": _entropy(attention),
        "distance": (flat @ np.abs(places[:, None] - places[None, :]).ravel()).astype(np.float64) / n,
        "confidence": _confidence(attention, facts.words),
        "cls": _sum_received(attention, facts.cls),
        "sep": _sum_received(attention, facts.sep),
        "self": _diagonal(attention, 0),
        "previous": _diagonal(attention, -1),
        "next": _diagonal(attention, 1),
        "same_token": (flat @ same.ravel()).astype(np.float64) / max(int(twice), 1),
        "ahead": (flat @ facts.ahead.ravel()).astype(np.float64) / max(int(facts.words.sum()), 1),
    }


def _entropy(attention: np.ndarray) -> np.ndarray:
    """[heads]: 0 when all weight is on one token, 1 when it is spread evenly."""
    n = attention.shape[-1]
    if n < 2:
        return np.zeros(len(attention))
    tiny = np.finfo(np.float32).tiny  # 0 · ln 0 is 0
    total = [np.vdot(head, np.log(np.maximum(head, tiny))) for head in attention]
    return np.maximum(-np.array(total, dtype=np.float64) / (n * np.log(n)), 0)


def _sum_received(attention: np.ndarray, keys: np.ndarray) -> np.ndarray:
    return attention[:, :, np.flatnonzero(keys)].sum(axis=(1, 2), dtype=np.float64) / attention.shape[1]


def _diagonal(attention: np.ndarray, offset: int) -> np.ndarray:
    diagonal = np.diagonal(attention, offset, axis1=1, axis2=2)
    return diagonal.mean(axis=1, dtype=np.float64) if diagonal.shape[1] else np.zeros(len(attention))


def _confidence(attention: np.ndarray, words: np.ndarray) -> np.ndarray:
    """[heads]: the mean over words of the largest weight on one of them."""
    if not words.any():
        return np.zeros(len(attention))
    return attention.max(axis=2, where=words, initial=0)[:, words].mean(axis=1, dtype=np.float64)


def patterns(metrics: dict[str, np.ndarray]) -> np.ndarray:
    """The pattern of each head, a string array of the metrics' shape; see PATTERN_RULE."""
    shares = np.stack([metrics[key] for key in NAMED])
    names = np.array(list(NAMED.values()), dtype=object)[shares.argmax(axis=0)]
    rest = np.full(names.shape, "mixed", dtype=object)
    rest[metrics["same_token"] >= CLEAR] = "same token"  # only counts tokens that occur twice, so it says least about the others
    rest[metrics["cls"] + metrics["sep"] >= CLEAR] = "[CLS] and [SEP]"
    rest[metrics["previous"] + metrics["next"] + metrics["self"] >= CLEAR] = "diagonal"
    # A few tokens spread evenly over look like any pattern: of three, a token and its neighbours are all there is.
    return np.where(metrics["entropy"] >= BROAD, "broad", np.where(shares.max(axis=0) >= CLEAR, names, rest)).astype(object)


def strongest_pairs(attention: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest weight of each head [heads, n, n] among the allowed (query, key), bool [n, n]: weight, query, key.

    All three are [heads]; the weights are 0 when nothing is allowed.
    """
    n = attention.shape[-1]
    places = np.array([int(np.argmax(np.where(allowed, head, 0))) for head in attention])
    queries, keys = np.divmod(places, n)
    weights = attention[np.arange(len(attention)), queries, keys] * allowed[queries, keys]
    return weights, queries, keys


class Overview(NamedTuple):
    """`small` [layers, heads, s, s] in 0 to 1, each picture up to its `scale_end`; metrics and patterns are [layers, heads]."""

    small: np.ndarray
    metrics: dict[str, np.ndarray]
    patterns: np.ndarray
    strongest: np.ndarray  # [layers, heads] the largest weight of each head


def overview(layers: Iterable[np.ndarray], facts: TokenFacts) -> Overview:
    """Thumbnails, metrics and patterns from attention [heads, n, n] of layers 1, 2, ..., one of which is in memory at a time."""
    small, strongest, rows = [], [], []
    for attention in layers:
        pooled = thumbnails(attention)
        small.append(pooled)
        strongest.append(pooled.max(axis=(-2, -1)))
        rows.append(head_metrics(attention, facts))
    metrics = {metric.key: np.stack([row[metric.key] for row in rows]) for metric in METRICS}
    tops = np.stack(strongest)
    ends = scale_end(tops, len(facts.ids))[..., None, None]
    return Overview((np.stack(small) / ends).astype(np.float32), metrics, patterns(metrics), tops)


ATLAS = ASSETS / "corpus" / "atlas.npz"
"""The atlas of the bundled model over the built-in corpus, made by `python -m explorer.corpus.compute.atlas`."""


class Habit(NamedTuple):
    """What the heads of a pattern do: as a name, and as a verb.

    The weight on it is the sum of some `metrics`; `offsets` are the places of its keys, seen from the query.
    """

    name: str
    does: str
    metrics: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()


SPREAD, MIXED = "broad", "mixed"
HABITS = {  # by the pattern of `head_metrics.patterns`, which has the thresholds
    "previous token": Habit("previous token", "attends to the previous token", ("previous",), (-1,)),
    "next token": Habit("next token", "attends to the next token", ("next",), (1,)),
    "itself": Habit("itself", "attends to the token itself", ("self",), (0,)),
    "diagonal": Habit(
        "itself and its neighbours", "attends to the token itself and its neighbours", ("self", "previous", "next"), (-1, 0, 1)
    ),
    "same token": Habit("same word", "attends to the same token elsewhere", ("same_token",)),
    "[SEP]": Habit("delimiter [SEP]", "attends to [SEP]", ("sep",)),
    "[CLS]": Habit("delimiter [CLS]", "attends to [CLS]", ("cls",)),
    "[CLS] and [SEP]": Habit("delimiters", "attends to [CLS] and [SEP]", ("cls", "sep")),
    SPREAD: Habit("all tokens", "spreads its weight"),
    MIXED: Habit("no single habit", "has no clear pattern"),
}


class HeadName(NamedTuple):
    """A head in a word or two, and how sure that is; `elsewhere` is what it does across the corpus, '' if unknown."""

    name: str
    sure: str
    elsewhere: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.sure}"


def habit_share(habit: Habit, metrics: Mapping[str, np.ndarray], place: int | tuple[int, int]) -> float:
    """The mean weight, 0 to 1, that the head at a place of `metrics` puts on what its habit is named after."""
    return min(sum(float(metrics[key][place]) for key in habit.metrics), 1.0)


class Everywhere(NamedTuple):
    """What each head does across a corpus, [layers, heads] in words; `right` is how often it finds its relation, if any."""

    habits: np.ndarray
    right: np.ndarray

    def describe(self, place: tuple[int, int]) -> str:
        """What a head (layer, head), zero-based, does across the corpus: 'subject of a verb, right for 50% of such words …'."""
        return ", ".join(filter(None, (str(self.habits[place]), str(self.right[place]))))


@cache
def everywhere() -> Everywhere:
    """What the heads of the bundled model do across the built-in corpus."""
    with np.load(ATLAS, allow_pickle=False) as file:
        habits, relations, shares, usual = (file[name] for name in ("habits", "relations", "shares", "baselines"))
    right, known = np.full(habits.shape, "", dtype=object), relations.tolist()
    for place in np.ndindex(*habits.shape):
        if (relation := str(habits[place])) in known:
            at = known.index(relation)
            right[place] = f"right for {shares[place][:, at].max():.0%} of such words, position alone for {usual[at]:.0%}"
    return Everywhere(np.vectorize(plain, otypes=[object])(habits), right)


def head_name_of(seen: Overview, place: tuple[int, int], atlas: Everywhere | None = None) -> HeadName:
    """The name of a head (layer, head), zero-based: its habit on this input, else its relation in the atlas, else none."""
    habit, elsewhere = HABITS[str(seen.patterns[place])], atlas.describe(place) if atlas else ""
    if habit.metrics:
        return HeadName(habit.name, f"{habit_share(habit, seen.metrics, place):.2f} of the weight", elsewhere)
    if atlas and atlas.right[place]:
        return HeadName(f"{atlas.habits[place]}, by the atlas", str(atlas.right[place]))
    if seen.patterns[place] == SPREAD:
        return HeadName(habit.name, f"entropy {seen.metrics['entropy'][place]:.2f} of at most 1", elsewhere)
    most = max(NAMED, key=lambda key: float(seen.metrics[key][place]))
    return HeadName(habit.name, f"at most {seen.metrics[most][place]:.2f} of the weight on one, {NAMED[most]}", elsewhere)
