"""What is known of all heads of a model over a corpus, as a record and as a file."""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from explorer.analysis.head_families import Profiles
from explorer.corpus.attention_sums import DIRECTIONS


@dataclass(frozen=True, eq=False)
class HeadAtlas:
    """What the heads of a model do on average over a corpus; weights and shares are from 0 to 1.

    `offsets` [layers, heads, OFFSETS] is the mean weight on the token so far behind the query, over the queries that have one;
    `cls`, `sep`, `same_token` and `entropy` [layers, heads] are the metrics of that name, the mean over all tokens. `by_tag`
    [layers, heads, tags, tags + 2] is the weight from words of one part of speech to those of another, then to [CLS] and [SEP],
    the mean over the words it comes from; rows sum to 1.

    Of each of the `relations` that occur FEWEST times, `counts` [relations], `shares` [layers, heads, DIRECTIONS, relations]
    is the share of words whose strongest link is their syntactic head: the other word that they look at most, or by which they
    are looked at most, [CLS] and [SEP] left out. `baselines` [relations] are the shares for which the head is always the word at
    the best offset, `baseline_offsets`.

    `habits` and `families` [layers, heads] are names by FAMILY_RULE: of the head itself, and of those that are like it.
    `examples` [layers, heads, SHOWN, 3] are the sentence, the word and the other word of the sentences where a head is strongest
    at its habit, with `strengths` [layers, heads, SHOWN], -1 where there are fewer; the words are ADDED where none stand out.
    `points` [layers · heads, 2] are the map of `mapped_in_steps`, none before.
    """

    sentences: int
    tokens: int
    tags: np.ndarray
    relations: np.ndarray
    offsets: np.ndarray
    cls: np.ndarray
    sep: np.ndarray
    same_token: np.ndarray
    entropy: np.ndarray
    by_tag: np.ndarray
    counts: np.ndarray
    shares: np.ndarray
    baselines: np.ndarray
    baseline_offsets: np.ndarray
    habits: np.ndarray
    families: np.ndarray
    examples: np.ndarray
    strengths: np.ndarray
    points: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def best(self) -> np.ndarray:
        """[layers, heads, relations]: the shares in the better direction."""
        return self.shares.max(axis=2)

    @property
    def leads(self) -> np.ndarray:
        """[layers, heads, relations]: by how much a head beats the best offset, -1 to 1."""
        return self.best - self.baselines

    @property
    def profiles(self) -> Profiles:
        """The heads, layer by layer, as they are compared."""
        names = ("offsets", "entropy", "cls", "sep", "same_token")
        flat = {name: _by_head(getattr(self, name)) for name in names}
        leads = self.leads.reshape(self.cls.size, len(self.counts))
        return Profiles(**flat, leads=leads, relations=self.relations.tolist(), counts=self.counts)

    def direction(self, layer: int, head: int, relation: int) -> str:
        """The better of the DIRECTIONS for a relation; all are zero-based."""
        return DIRECTIONS[int(self.shares[layer, head, :, relation].argmax())]

    def looks_back(self, layer: int, head: int) -> bool:
        """Whether a head (zero-based) is named after a relation in which the syntactic head looks at its dependent."""
        name, named = str(self.habits[layer, head]), self.relations.tolist()
        return name in named and self.direction(layer, head, named.index(name)) == DIRECTIONS[1]


def _by_head(values: np.ndarray) -> np.ndarray:
    """[layers, heads, ...] as [layers * heads, ...]."""
    return values.reshape(-1, *values.shape[2:])


def write(atlas: HeadAtlas, path: Path) -> None:
    """Write an atlas, whole or not at all."""
    small = {one.name: np.asarray(getattr(atlas, one.name)) for one in fields(atlas)}
    small = {name: value.astype(np.float32) if value.dtype.kind == "f" else value for name, value in small.items()}
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **small)
    os.replace(part, path)


def read(path: Path) -> HeadAtlas:
    """What was written."""
    with np.load(path, allow_pickle=False) as file:
        found = {one.name: file[one.name] for one in fields(HeadAtlas)}
    return HeadAtlas(**{**found, "sentences": int(found["sentences"]), "tokens": int(found["tokens"])})
