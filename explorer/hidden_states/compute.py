"""How much a vector depends on its context, layer by layer (Ethayarajh 2019), beside vectors of unrelated texts."""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from explorer.analysis.similarity import cosine_matrix, cosines, mean_of_pairs
from explorer.bert.explorer import Explorer
from explorer.bert.features import ANY_TOKEN, layer_features_in_steps
from explorer.core.errors import InputError
from explorer.core.paths import EXAMPLES
from explorer.core.steps import finished


def drift(states: np.ndarray) -> np.ndarray:
    """[layers, tokens], 0 to 2: 1 − cosine between each hidden state and the embedding output, hidden state 0."""
    return 1 - cosines(states[1:], states[:1])


def self_similarity(occurrences: np.ndarray) -> np.ndarray:
    """[layers + 1]: mean cosine between one word's vectors in different contexts.

    `occurrences` is [layers + 1, contexts, hidden], of two contexts or more. 1: the context makes no difference. For unrelated
    tokens it is a layer's anisotropy, the baseline above which a similarity means something.
    """
    return np.array([mean_of_pairs(cosine_matrix(vectors)) for vectors in occurrences])


def within_and_between(occurrences: np.ndarray, senses: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Two [layers + 1]: the mean cosine of a word's vectors in the same sense, and in different senses.

    `occurrences` is [layers + 1, contexts, hidden], with one sense for each context; NaN where there are no such pairs.
    """
    named = np.array(list(senses))
    same, itself = named[:, None] == named[None, :], np.eye(len(named), dtype=bool)
    matrices = np.stack([cosine_matrix(vectors) for vectors in occurrences])  # [layers + 1, contexts, contexts]

    def mean(pairs: np.ndarray) -> np.ndarray:
        return matrices[:, pairs].mean(axis=1) if pairs.any() else np.full(len(matrices), np.nan)

    return mean(same & ~itself), mean(~same)


def find_word(text: str, word: str, offsets: Sequence[tuple[int, int]], as_read: Callable[[str], str] = str) -> list[list[int]]:
    """The zero-based tokens of every occurrence of a whole word in the part of a text that is read, ignoring case.

    `offsets` are the characters [start, end) of each token of that text; other tokens have (0, 0). Both are compared letter by
    letter as a model reads them. Raises InputError for no word, and for a very long one.
    """
    wanted = unicodedata.normalize("NFC", word.strip()) if isinstance(word, str) else ""
    if not wanted or len(wanted) > 100:
        raise InputError("Give a word of at most 100 characters that occurs in the texts.")
    matches = re.finditer(rf"(?<!\w){re.escape(as_read(wanted))}(?!\w)", as_read(text), re.IGNORECASE)
    found = (
        [i for i, (start, end) in enumerate(offsets) if start < end and start < match.end() and end > match.start()]
        for match in matches
    )
    return [tokens for tokens in found if tokens]


def repeated_words(texts: Sequence[str], as_read: Callable[[str], str] = str) -> list[str]:
    """The words that occur at least twice in the texts as a model reads them, whatever their case, in order of occurrence."""
    counts = Counter(re.findall(r"[^\W_]+", as_read(" ".join(texts)).casefold()))
    return [word for word, count in counts.items() if count > 1]


UNRELATED = 100  # sentences, to judge the similarity of two vectors by
UNRELATED_TOKENS = 1_500  # in them, about


def anisotropy(model: Explorer) -> np.ndarray:
    """[layers + 1]: the mean cosine of one token of each of UNRELATED sentences, examples that ship with the app."""
    lines = (EXAMPLES / "topics.txt").read_text("utf-8").splitlines()
    texts = [line.rpartition("|")[0].strip() for line in lines if "|" in line]
    with (EXAMPLES / "sentiment.csv").open(encoding="utf-8", newline="") as file:
        texts += [row["text"] for row in csv.DictReader(file)]
    return self_similarity(finished(layer_features_in_steps(model, texts[:UNRELATED], ANY_TOKEN)))
