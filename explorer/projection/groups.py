"""Clusters of points, named by the words that only their texts have."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from explorer.analysis.projection import clusters, digest
from explorer.analysis.similarity import directions
from explorer.core.cache import OnceCache

MOST = 8
WORDS = 3  # in a cluster's name
LIFT = 1.3  # times the cluster's share of all texts: the least share of a word's texts in it
WORD = re.compile(r"[^\W\d_]{3,}")
_kept: OnceCache[tuple[bytes, int], np.ndarray] = OnceCache(20)


def clusters_of(vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    """The name of the cluster of each text: k-means in the space of vectors [n, hidden], with k = √(n / 2), 2 to MOST.

    A name has the words that are most frequent in the cluster compared with all texts; where texts are single words, those
    nearest to its middle, signs and parts of words last.
    """
    number = int(np.clip(round((len(texts) / 2) ** 0.5), 2, MOST))
    found = _kept.get((digest(vectors), number), lambda: clusters(vectors, number))
    single = all(" " not in text for text in texts)
    words = [{text} if single else set(map(str.casefold, WORD.findall(text))) for text in texts]
    everywhere = Counter(word for own in words for word in own)
    names: dict[int, str] = {}
    for cluster in range(int(found.max()) + 1):
        rows = np.flatnonzero(found == cluster).tolist()
        best = _central(vectors[rows], [texts[row] for row in rows]) if single else _distinctive(rows, words, everywhere)
        name = ", ".join(best[:WORDS]) or f"cluster {cluster + 1}"
        names[cluster] = name if name not in names.values() else f"{name} ({cluster + 1})"
    return [names[cluster] for cluster in found.tolist()]


def _distinctive(rows: Sequence[int], words: Sequence[set[str]], everywhere: Counter[str]) -> list[str]:
    """Words by count in the cluster × the share of their texts that are in it: c-TF-IDF with a share for the logarithm."""
    inside = Counter(word for row in rows for word in words[row])
    usual = LIFT * len(rows) / len(words)
    own = [word for word, count in inside.items() if count / everywhere[word] > usual]
    often = [word for word in own if inside[word] > 1] or own
    return sorted(often, key=lambda word: (-(inside[word] ** 2) / everywhere[word], word))


def _central(vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    unit = directions(vectors)
    ordered = [texts[row] for row in np.argsort(-(unit @ unit.mean(axis=0)), kind="stable")]
    return [text for text in ordered if WORD.fullmatch(text)] or ordered
