"""The measures of SQuAD for answers: Rajpurkar et al. 2016, section 6.1, and 2018 for questions without an answer."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

LONGEST_ANSWER = 30  # tokens
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise_answer(answer: str) -> str:
    """The answer in lower case with single spaces, without ASCII punctuation and the articles a, an and the."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(said: str, accepted: Sequence[str]) -> float:
    """1 when the predicted answer equals one of the accepted ones, all normalized, else 0; '' is no answer."""
    return float(normalise_answer(said) in map(normalise_answer, _right(accepted)))


def f1(said: str, accepted: Sequence[str]) -> float:
    """The best F1, 0 to 1, of the words shared with an accepted answer; without words it is 1 if both have none, else 0."""
    return max(_f1(normalise_answer(said).split(), normalise_answer(one).split()) for one in _right(accepted))


def _right(accepted: Sequence[str]) -> list[str]:
    """The accepted answers with more than articles and punctuation; without any, the right answer is ''."""
    return [one for one in accepted if normalise_answer(one)] or [""]


def _f1(said: list[str], right: list[str]) -> float:
    common = (Counter(said) & Counter(right)).total()
    if not said or not right:
        return float(said == right)
    return 2 * common / (len(said) + len(right))


def best_span(starts: np.ndarray, ends: np.ndarray, longest: int = LONGEST_ANSWER) -> tuple[int, int]:
    """The span [start, end], both included, of at most `longest` tokens with the highest starts[start] + ends[end].

    Devlin et al. 2019, section 4.2; `starts` and `ends` are [tokens] each. On a tie the first span wins.
    """
    sums = starts[:, None] + ends[None, :]  # [start, end]
    band = np.triu(np.ones(sums.shape, bool)) & ~np.triu(np.ones(sums.shape, bool), longest)
    start, end = divmod(int(np.where(band, sums, -np.inf).argmax()), len(starts))
    return start, end
