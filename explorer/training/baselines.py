"""What it takes to beat: always the same answer, and the words counted without any BERT."""

import warnings

import numpy as np

from explorer.training.examples import Examples, Split


def baselines(examples: Examples, split: Split) -> dict[str, float]:
    """How often a simple method is right on the held-out examples, 0 to 1, by its name.

    The most frequent label, and logistic regression on tf-idf (Spärck Jones 1972) of words and word pairs.
    """
    targets = examples.targets
    majority = np.bincount(targets[split.train]).argmax()
    predicted = {"most frequent": majority, "bag of words": _bag_of_words(examples, split)}
    return {name: float((targets[split.held_out] == labels).mean()) for name, labels in predicted.items()}


def _bag_of_words(examples: Examples, split: Split) -> np.ndarray:
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    matrices = []
    for texts in (examples.texts, examples.texts_b):  # the words of a second text are words of their own
        if not texts:
            continue
        counter = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b|[^\w\s]")
        try:
            seen = counter.fit_transform([texts[row] for row in split.train])
        except ValueError:  # there is not one word
            continue
        matrices.append((seen, counter.transform([texts[row] for row in split.held_out])))
    targets = examples.targets[split.train]
    if not matrices:
        return np.full(len(split.held_out), np.bincount(targets).argmax())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it stopped short of the last digit
        fitted = LogisticRegression(C=3, max_iter=200).fit(hstack([seen for seen, _ in matrices]), targets)
    return fitted.predict(hstack([held for _, held in matrices]))
