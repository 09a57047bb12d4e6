"""What a trained head has to beat: a constant answer, and word counts without BERT."""

import warnings
from typing import Any

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.core.lazy import scipy, sklearn
from explorer.finetune.compute.in_turn import Heads, one_hot, solve, without_each
from explorer.training.examples import Examples, ScoredExamples, Split, leave_one_out

WORDS_C = 3  # how little the weights of words are kept small


def baselines(examples: Examples, split: Split) -> dict[str, float]:
    """The accuracy of simple methods on the held-out examples, 0 to 1, by name.

    The most frequent label, and logistic regression on tf-idf (Spärck Jones 1972) of words and word pairs. Where all examples are
    trained on, the words are counted under leave-one-out, and the most frequent label is that of all.
    """
    if len(split.train) == len(examples):
        return {"most frequent": max(examples.counts.values()) / len(examples), "bag of words": words_in_turn(examples)}
    targets = examples.targets
    majority = int(np.bincount(targets[split.train]).argmax())
    words = _from_words(examples, split, sklearn.linear_model.LogisticRegression(C=WORDS_C, max_iter=200), targets, majority)
    predicted = {"most frequent": majority, "bag of words": words}
    return {name: float((targets[split.held_out] == labels).mean()) for name, labels in predicted.items()}


def words_in_turn(examples: Examples) -> float:
    """The accuracy of the bag of words under leave-one-out, 0 to 1.

    All classes weigh the same in it: the class of a text that is left out would otherwise be the rarest, and never be guessed for
    unknown words.
    """
    folds, every = leave_one_out(examples), np.arange(len(examples))
    seen = without_each(folds, len(examples))
    products = np.zeros((len(folds), len(examples), len(examples)))
    for fold, parts in enumerate(folds):
        products[fold] = sum((words @ words.T).toarray() for _, words in _counted(examples, Split(parts.train, every)))
    right = one_hot(examples)
    counts = seen @ right  # [folds, classes]
    balance = seen.sum(1, keepdims=True) / np.maximum(counts, 1) / (counts > 0).sum(1, keepdims=True)
    heads = Heads(seen * balance[:, examples.targets], products, right)
    said = heads.of_left_out(solve(heads, 1 / WORDS_C)).argmax(1)
    return float((said == examples.targets).mean())


def number_baselines(examples: ScoredExamples, split: Split) -> dict[str, float]:
    """Spearman correlation of ridge regression on the tf-idf of words and word pairs with the held-out numbers, -1 to 1."""
    numbers = np.array(examples.numbers)
    said = _from_words(examples, split, sklearn.linear_model.Ridge(), numbers, numbers[split.train].mean())
    return {"bag of words": spearman(said, numbers[split.held_out])}


def _counted(examples: Examples, split: Split) -> list[tuple[Any, Any]]:
    """For the texts, and for the second ones, the sparse tf-idf of those to train on, and with their vocabulary of the others."""
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
    return matrices


def _from_words(examples: Examples, split: Split, method: Any, targets: np.ndarray, otherwise: float) -> np.ndarray:
    """Predictions of a scikit-learn method for the held-out texts from tf-idf, or `otherwise` for all if they have no words."""
    matrices = _counted(examples, split)
    if not matrices:
        return np.full(len(split.held_out), otherwise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about not converging to the last digit
        fitted = method.fit(scipy.sparse.hstack([seen for seen, _ in matrices]), targets[split.train])
    return fitted.predict(scipy.sparse.hstack([held for _, held in matrices]))
