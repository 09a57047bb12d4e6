"""The atlas of heads as a record and as a file."""

from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from explorer.corpus.compute.atlas_evidence import LEVEL
from explorer.corpus.compute.attention_sums import DIRECTIONS
from explorer.corpus.compute.file import read_arrays, write_arrays
from explorer.corpus.compute.head_families import NAMING, Profiles

TIE = 1e-6  # shares are kept as float32: a smaller lead is none


@dataclass(frozen=True, eq=False)
class HeadAtlas:
    """What the heads of a model do on average over a corpus; weights and shares are from 0 to 1.

    `offsets` [layers, heads, OFFSETS] is the mean weight on the token at each offset from the query, over the queries that have
    one; `cls`, `sep`, `same_token` and `entropy` [layers, heads] are the head metrics of these names, means over all tokens.
    `by_tag` [layers, heads, tags, tags + 2] is the weight from words of one part of speech to those of another, then to [CLS] and
    [SEP], the mean over the words it comes from; rows sum to 1.

    `relations` are those that occur at least FEWEST times, `counts` [relations] times each. `shares` [layers, heads, DIRECTIONS,
    relations] is the share of words whose strongest link is to their syntactic head: the link to the other word that they attend
    to most, or that attends to them most; [CLS] and [SEP] are left out. `baselines` [relations] are the shares that are right by
    always choosing the word at the best fixed offset, `baseline_offsets`.

    The best of many relations is better than an offset by chance too. `permuted` [DRAWS] is how many heads beat it for some
    relation when every word takes over the strongest link of another word of its sentence; `q` [layers, heads, DIRECTIONS,
    relations] and `halves` (passing, holding) are those of `atlas_evidence`.

    `habits` and `families` [layers, heads] are named by FAMILY_RULE: what the head itself does, and what the heads like it do.
    `examples` [layers, heads, SHOWN, 3] are (sentence, word, other word) where a head is strongest at its habit, with `strengths`
    [layers, heads, SHOWN], -1 where there are fewer; the words are ADDED for a habit without a single link. `points` [layers ·
    heads, 2] are the map made by `mapped_in_steps`, empty before.
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
    q: np.ndarray
    permuted: np.ndarray
    halves: np.ndarray
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
        """[layers, heads, relations]: by how much a head beats the best fixed offset, -1 to 1."""
        return self.best - self.baselines

    @property
    def significant(self) -> np.ndarray:
        """[layers, heads, relations] bool: whether a head beats the offset in some direction, corrected for all tests."""
        ahead = self.shares > self.baselines + TIE
        return np.asarray((ahead & (self.q <= LEVEL)).any(axis=2))

    @property
    def beating(self) -> np.ndarray:
        """[layers, heads] bool: whether a head beats the offset for some relation, by chance or not."""
        return np.asarray((self.leads > TIE).any(axis=-1))

    @property
    def profiles(self) -> Profiles:
        """The heads in the form in which they are compared, layer by layer.

        A lead counts if it is significant and its relation has NAMING words or more: the best of a few words says little.
        """
        names = ("offsets", "entropy", "cls", "sep", "same_token")
        flat = {name: (value := getattr(self, name)).reshape(-1, *value.shape[2:]) for name in names}
        counted = self.significant & (self.counts >= NAMING)
        leads = np.where(counted, self.leads, np.minimum(self.leads, 0)).reshape(self.cls.size, len(self.counts))
        return Profiles(**flat, leads=leads, relations=self.relations.tolist(), counts=self.counts)

    def direction(self, layer: int, head: int, relation: int) -> str:
        """The better one of the DIRECTIONS; layer, head and relation are zero-based."""
        return DIRECTIONS[int(self.shares[layer, head, :, relation].argmax())]

    def looks_back(self, layer: int, head: int) -> bool:
        """Whether a head (zero-based) is named after a relation in which it attends from the syntactic head to its dependent."""
        name, named = str(self.habits[layer, head]), self.relations.tolist()
        return name in named and self.direction(layer, head, named.index(name)) == DIRECTIONS[1]


def write(atlas: HeadAtlas, path: Path) -> None:
    """Write an atlas atomically; floats as float32."""
    small = {field.name: np.asarray(getattr(atlas, field.name)) for field in fields(atlas)}
    small = {name: value.astype(np.float32) if value.dtype.kind == "f" else value for name, value in small.items()}
    write_arrays(path, small)


def read(path: Path) -> HeadAtlas:
    """The atlas in a file of `write`."""
    found = read_arrays(path)
    return HeadAtlas(**{**found, "sentences": int(found["sentences"]), "tokens": int(found["tokens"])})
