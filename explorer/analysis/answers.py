"""How right answers are, as the evaluation of SQuAD tells it: Rajpurkar et al. 2016, section 6.1, and 2018 for no answer."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

LONGEST_ANSWER = 30  # tokens
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise_answer(answer: str) -> str:
    """The answer in lower case, without ASCII punctuation and the articles a, an and the, with single blanks."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(said: str, accepted: Sequence[str]) -> float:
    """1 when what was said is one of the accepted answers once both are normalised, else 0; '' is no answer."""
    return float(normalise_answer(said) in map(normalise_answer, _right(accepted)))


def f1(said: str, accepted: Sequence[str]) -> float:
    """The best F1, 0 to 1, of the words in common with an accepted answer; with no answer 1 if neither has one, else 0."""
    return max(_f1(normalise_answer(said).split(), normalise_answer(one).split()) for one in _right(accepted))


def _right(accepted: Sequence[str]) -> list[str]:
    """The accepted answers that are more than articles and punctuation; where there are none, no answer is right."""
    return [one for one in accepted if normalise_answer(one)] or [""]


def _f1(said: list[str], right: list[str]) -> float:
    common = (Counter(said) & Counter(right)).total()
    if not said or not right:
        return float(said == right)
    return 2 * common / (len(said) + len(right))


def best_span(starts: np.ndarray, ends: np.ndarray, longest: int = LONGEST_ANSWER) -> tuple[int, int]:
    """The span [start, end], both in it, of at most `longest` tokens with the highest starts[start] + ends[end].

    Devlin et al. 2019, section 4.2; `starts` and `ends` are [tokens] each. Of equals the first.
    """
    sums = starts[:, None] + ends[None, :]  # [start, end]
    band = np.triu(np.ones(sums.shape, bool)) & ~np.triu(np.ones(sums.shape, bool), longest)
    start, end = divmod(int(np.where(band, sums, -np.inf).argmax()), len(starts))
    return start, end
