"""What a trained head has to beat: a constant answer, and word counts without BERT."""

import re
import warnings
from typing import Any

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.core.lazy import scipy, sklearn
from explorer.training.examples import Examples, ScoredExamples, Split


def baselines(examples: Examples, split: Split) -> dict[str, float]:
    """The accuracy of simple methods on the held-out examples, 0 to 1, by name.

    The most frequent label, and logistic regression on tf-idf (Spärck Jones 1972) of words and word pairs.
    """
    targets = examples.targets
    majority = int(np.bincount(targets[split.train]).argmax())
    words = _from_words(examples, split, sklearn.linear_model.LogisticRegression(C=3, max_iter=200), targets, majority)
    predicted = {"most frequent": majority, "bag of words": words}
    return {name: float((targets[split.held_out] == labels).mean()) for name, labels in predicted.items()}


def number_baselines(examples: ScoredExamples, split: Split) -> dict[str, float]:
    """Spearman correlation of simple methods' estimates with the held-out numbers, -1 to 1, by name.

    Ridge regression on the tf-idf of words and word pairs and, for pairs, the share of words that both texts have in common
    (Jaccard).
    """
    numbers = np.array(examples.numbers)
    said = {"bag of words": _from_words(examples, split, sklearn.linear_model.Ridge(), numbers, numbers[split.train].mean())}
    if examples.texts_b:
        said["shared words"] = np.array([_shared(*examples.pairs[row]) for row in split.held_out])
    return {name: spearman(given, numbers[split.held_out]) for name, given in said.items()}


def _shared(one: str, other: str) -> float:
    first, second = (set(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return len(first & second) / max(1, len(first | second))


def _from_words(examples: Examples, split: Split, method: Any, targets: np.ndarray, otherwise: float) -> np.ndarray:
    """Predictions of a scikit-learn method for the held-out texts from tf-idf, or `otherwise` for all when there are no words."""
    matrices = []
    for texts in (examples.texts, examples.texts_b):  # the second text has a vocabulary of its own
        if not texts:
            continue
        counter = sklearn.feature_extraction.text.TfidfVectorizer(
            ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b|[^\w\s]"
        )
        try:
            seen = counter.fit_transform([texts[row] for row in split.train])
        except ValueError:  # no words at all
            continue
        matrices.append((seen, counter.transform([texts[row] for row in split.held_out])))
    if not matrices:
        return np.full(len(split.held_out), otherwise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about not converging to the last digit
        fitted = method.fit(scipy.sparse.hstack([seen for seen, _ in matrices]), targets[split.train])
    return fitted.predict(scipy.sparse.hstack([held for _, held in matrices]))
