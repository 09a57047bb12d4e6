"""Pairs to begin with, and the score of a pair."""

from collections.abc import Iterable
from typing import Any

from explorer.views.subject import Subject

PAIRS = (
    ("The baby would not stop crying.", "Her father picked her up and sang to her."),
    ("The baby would not stop crying.", "The bridge was finished in 1932."),
    ("We ran out of flour this morning.", "I will stop at the shop on my way home."),
    ("We ran out of flour this morning.", "Saturn is the second largest planet."),
    ("He bought a ticket at the counter.", "Then he waited on the platform for his train."),
    ("He bought a ticket at the counter.", "Most frogs lay their eggs in water."),
)


def score_pair(subject: Subject, a: str, b: str) -> list[Any]:
    """A, B, the probability of IsNext (0 to 1), and the logit of IsNext less that of NotNext."""
    answer = subject.model.next_sentence(a, b)
    return [a, b, round(answer.is_next, 4), round(answer.logits[0] - answer.logits[1], 2)]


def rank_pairs(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """Scored pairs, the likeliest first."""
    return sorted(rows, key=lambda row: -row[3])
