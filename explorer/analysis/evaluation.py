"""Measures of classifiers, regressors and taggers that scikit-learn does not have, from predictions and true values."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from explorer.core.lazy import scipy, seqeval


def confident_mistakes(probabilities: np.ndarray, targets: np.ndarray, most: int = 10) -> np.ndarray:
    """Indices of wrong predictions, the most confident first; at most `most`."""
    wrong = np.flatnonzero(probabilities.argmax(-1) != targets)
    return wrong[np.argsort(-probabilities[wrong].max(-1), kind="stable")][:most]


def pearson(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of two arrays of numbers [n], -1 to 1; 0 where one of them is constant."""
    return float(np.corrcoef(one, other)[0, 1]) if np.ptp(one) > 0 and np.ptp(other) > 0 else 0.0


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks of two arrays of numbers [n], -1 to 1; equal numbers share their mean rank."""
    return pearson(scipy.stats.rankdata(one), scipy.stats.rankdata(other))


# Named entities, for tags of the form B-PER, I-PER and O (Ramshaw & Marcus 1995)

BEGINS, GOES_ON, OUTSIDE = "B-", "I-", "O"

Tags = Sequence[Sequence[str]]
"""The tags of the words, sentence by sentence."""


class EntityScores(NamedTuple):
    """Precision, recall and F1 of entities, 0 to 1: an entity counts when all its words and its type are right.

    `support` is the number of true entities. `type` is '' for all types together.
    """

    type: str
    precision: float
    recall: float
    f1: float
    support: int


def marks_entities(tags: Sequence[str]) -> bool:
    """Whether any tag marks the beginning or the inside of an entity."""
    return any(tag.startswith((BEGINS, GOES_ON)) and len(tag) > len(BEGINS) for tag in tags)


def entity_scores(right: Tags, said: Tags) -> list[EntityScores]:
    """The scores of all entities (micro average), then of each type; by seqeval (Nakayama 2018), counted as conlleval does.

    Tags without B- or I- are outside of entities. [] when `right` has no entity.
    """
    right, said = _clean(right), _clean(said)
    if not any(map(seqeval.metrics.sequence_labeling.get_entities, right)):
        return []
    found = seqeval.metrics.classification_report(right, said, output_dict=True, zero_division=0)
    types = {"": found.pop("micro avg")} | {kind: found[kind] for kind in sorted(found.keys() - {"macro avg", "weighted avg"})}
    names = ("precision", "recall", "f1-score", "support")
    return [EntityScores(kind, *(row[name].item() for name in names)) for kind, row in types.items()]


def _clean(tags: Tags) -> list[list[str]]:
    return [[tag if marks_entities([tag]) else OUTSIDE for tag in words] for words in tags]


def by_sentence(sentence_of: np.ndarray, values: Sequence[str]) -> list[list[str]]:
    """The values of words [words], as a list for each sentence."""
    edges = np.flatnonzero(np.diff(sentence_of)) + 1
    return [part.tolist() for part in np.split(np.array(list(values)), edges)]
