"""Reference vectors of a model for unrelated texts, to judge the similarity of two vectors by."""

import csv
import functools
from collections.abc import Generator

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import ANY_TOKEN, layer_features_in_steps
from explorer.core.paths import EXAMPLES
from explorer.core.steps import finished

NUMBER = 100


@functools.cache
def texts() -> tuple[str, ...]:
    """NUMBER unrelated sentences, from the examples that ship with the app."""
    lines = (EXAMPLES / "topics.txt").read_text("utf-8").splitlines()
    topics = [line.rpartition("|")[0].strip() for line in lines if "|" in line]
    with (EXAMPLES / "sentiment.csv").open(encoding="utf-8", newline="") as file:
        rest = [row["text"] for row in csv.DictReader(file)]
    return tuple([*topics, *rest][:NUMBER])


def words() -> int:
    """The number of words of these sentences, which is about that of their tokens."""
    return sum(len(text.split()) for text in texts())


def tokens(model: Explorer) -> np.ndarray:
    """[layers + 1, NUMBER, hidden] float32: one token of each sentence, at every hidden state."""
    return finished(vectors_in_steps(model))


def vectors_in_steps(model: Explorer) -> Generator[float, None, np.ndarray]:
    """Like `tokens`; yields the share done."""
    return layer_features_in_steps(model, texts(), ANY_TOKEN)
