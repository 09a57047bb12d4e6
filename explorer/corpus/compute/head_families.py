"""Names for what heads do on average: a rule for one profile, and families of similar profiles. Pure functions of arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.analysis.head_metrics import CLEAR
from explorer.core.lazy import sklearn

LEAD = 0.10  # by which a head must beat the best offset to be named after a relation
NAMING = 100  # words that a relation must have to name a head: shares of fewer are off by up to ten points
BROAD = 0.75  # of the maximum entropy, over many sentences
MOST_FAMILIES = 12  # clusters; those with the same name form one family
RELATION_WEIGHT = 2.0  # of a lead in a profile: it says more than the same weight on [CLS]
PLACES = {"previous": "previous token", "next": "next token", "self": "itself"}
MEANINGS = {  # of names other than relations
    "previous token": "most of the weight goes to the token before",
    "next token": "most of the weight goes to the token behind",
    "itself": "tokens look mostly at themselves",
    "[CLS]": "most of the weight is parked at [CLS]",
    "[SEP]": "most of the weight is parked at [SEP]",
    "[CLS] and [SEP]": "most of the weight is parked at [CLS] and [SEP]",
    "same word": "tokens look at the same one elsewhere",
    "neighbours": "tokens look at themselves and at their neighbours",
    "broad": "tokens look at nearly everything equally",
    "mixed": "no single habit explains it",
}
FAMILY_RULE = (
    f"‘previous token’, ‘next token’ or ‘itself’ from a mean weight of {CLEAR:.0%} there; else a relation of {NAMING} "
    f"words or more whose best offset it beats by {LEAD:.0%} points or more, significantly, the one where this is least by "
    f"chance; else [CLS], [SEP] or both together, the same word elsewhere, or itself and its neighbours "
    f"from {CLEAR:.0%}; ‘broad’ from an entropy of {BROAD:g}; else ‘mixed’"
)


@dataclass(frozen=True)
class Profiles:
    """What heads do on average, [n] each, from 0 to 1, and their leads over the best offset, [n, relations].

    `offsets` [n, reach · 2 + 1] are the mean weights by relative position, 0 in the middle. `counts` [relations] is how often
    each of the `relations` occurs.
    """

    offsets: np.ndarray
    entropy: np.ndarray
    cls: np.ndarray
    sep: np.ndarray
    same_token: np.ndarray
    leads: np.ndarray
    relations: Sequence[str]
    counts: np.ndarray

    @property
    def vectors(self) -> np.ndarray:
        """[n, numbers]: the profiles as vectors, similar by their Euclidean distance."""
        columns = [measure[:, None] for measure in (self.entropy, self.cls, self.sep, self.same_token)]
        leads = RELATION_WEIGHT * np.maximum(self.leads, 0)
        return np.concatenate([self.offsets, *columns, leads], axis=1).astype(np.float32)

    def mean(self, rows: np.ndarray) -> "Profiles":
        """The mean of some profiles, as a single profile."""
        named = {name: getattr(self, name) for name in ("offsets", "entropy", "cls", "sep", "same_token", "leads")}
        return replace(self, **{name: one[rows].mean(axis=0, keepdims=True) for name, one in named.items()})


def habits(given: Profiles) -> list[str]:
    """The name of each profile by FAMILY_RULE."""
    return [_habit(given, row) for row in range(len(given.entropy))]


def families(given: Profiles) -> list[str]:
    """The family of each profile: clusters by Ward's method (1963), named by FAMILY_RULE after their means.

    Clusters of the same name are one family.
    """
    vectors = given.vectors
    number = min(MOST_FAMILIES, len(np.unique(vectors, axis=0)))
    if number < 2:
        return habits(given.mean(np.arange(len(vectors)))) * len(vectors)
    found = sklearn.cluster.AgglomerativeClustering(number).fit_predict(vectors)
    names = {cluster: habits(given.mean(np.flatnonzero(found == cluster)))[0] for cluster in range(number)}
    return [names[cluster] for cluster in found.tolist()]


def _habit(given: Profiles, row: int) -> str:
    middle = given.offsets.shape[1] // 2
    near = dict(zip(PLACES, given.offsets[row, [middle - 1, middle + 1, middle]].tolist(), strict=True))
    place = max(near, key=lambda name: near[name])
    if near[place] >= CLEAR:
        return PLACES[place]
    leads = given.leads[row]
    if (leads >= LEAD).any():  # the one least likely by chance (lead · √count)
        return given.relations[int(np.argmax(np.where(leads >= LEAD, leads * np.sqrt(given.counts), 0)))]
    parked = {"[CLS]": float(given.cls[row]), "[SEP]": float(given.sep[row])}
    parked["[CLS] and [SEP]"] = sum(parked.values())
    clear = {**parked, "same word": float(given.same_token[row]), "neighbours": sum(near.values())}
    found = next((name for name, share in clear.items() if share >= CLEAR), "")
    return found or ("broad" if given.entropy[row] >= BROAD else "mixed")
