"""Spans of texts as answers: windows of a long text, the best span by the scores of its tokens, and how right an answer is.

The measures are those of SQuAD: Rajpurkar et al. 2016, section 6.1, and 2018 for questions without an answer. A window is the
question with as much of its text as the model reads in one pass; windows overlap.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.errors import InputError
from explorer.finetune.compute.prefix import CUTS
from explorer.text.encoding import Encoding
from explorer.text.lines import Pair

LONGEST_ANSWER = 30  # tokens
SHARED = 128  # maximum overlap of neighboring windows, in tokens
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise_answer(answer: str) -> str:
    """The answer in lower case with single spaces, without ASCII punctuation and the articles a, an and the."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(said: str, accepted: Sequence[str]) -> float:
    """1 when the predicted answer equals one of the accepted ones, all normalized, else 0; '' means no answer."""
    return float(normalise_answer(said) in map(normalise_answer, _right(accepted)))


def f1(said: str, accepted: Sequence[str]) -> float:
    """The best F1, 0 to 1, of the words shared with an accepted answer; without words it is 1 if both have none, else 0."""
    return max(_f1(normalise_answer(said).split(), normalise_answer(answer).split()) for answer in _right(accepted))


def _right(accepted: Sequence[str]) -> list[str]:
    """The accepted answers with more than articles and punctuation; without any, the right answer is ''."""
    return [answer for answer in accepted if normalise_answer(answer)] or [""]


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


@dataclass(frozen=True)
class Window:
    row: int  # index of the question
    begin: int  # character of the text at which the part begins
    encoding: Encoding

    @property
    def text_tokens(self) -> range:
        """The positions of the tokens of the text, zero-based."""
        first = self.encoding.sequences.index(1)
        return range(first, first + self.encoding.sequences.count(1))

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Characters [start, end) of the whole text for the tokens from `start` to `end`, both included."""
        offsets = self.encoding.offsets
        return self.begin + offsets[start][0], self.begin + offsets[end][1]

    def tokens(self, span: tuple[int, int] | None) -> tuple[int, int]:
        """The first and the last token, both included, of characters [start, end) of the text.

        (0, 0), which is [CLS], without an answer or when not all of it is in this window: Devlin et al. 2019, section 4.3.
        """
        if span is None:
            return 0, 0
        start, end = span[0] - self.begin, span[1] - self.begin
        offsets = self.encoding.offsets
        inside = [token for token in self.text_tokens if offsets[token][0] < end and offsets[token][1] > start]
        whole = inside and offsets[inside[0]][0] <= start and offsets[inside[-1]][1] >= end
        return (inside[0], inside[-1]) if whole else (0, 0)


def windows_of(model: Explorer, pairs: Sequence[Pair], first: int = 0) -> list[Window]:
    """The windows of questions and their texts, in order; `first` is the index of the first question.

    Raises InputError when a text or a question cannot be read.
    """
    return [window for row, pair in enumerate(pairs, start=first) for window in _windows(model, row, *pair)]


def _windows(model: Explorer, row: int, question: str, text: str) -> Iterator[Window]:
    most, begin = min(CUTS[0], model.capabilities.max_tokens), 0
    while True:
        encoding = model.encode(question, text[begin:])
        if encoding.total <= most:
            yield Window(row, begin, encoding)
            return
        if 2 * encoding.sequences.count(0) > most:
            raise InputError(f"The question {question[:40]!r} is too long to be read with its text. Shorten it.")
        places = [token for token, sequence in enumerate(encoding.sequences) if sequence == 1]
        places = places[: most - (encoding.kept - len(places))]
        end = encoding.offsets[places[-1]][1]
        yield Window(row, begin, model.encode(question, text[begin : begin + end]))
        begin += encoding.offsets[places[-max(1, min(SHARED, len(places) // 2))]][0]


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question: characters [start, end) of its text, or '' with 0 and 0 when 'no answer' scores higher.

    `score` is the share p(start) · p(end) of the best span, `no_answer` that of [CLS], 0 to 1 each (softmax over all tokens of
    the window, Devlin et al. 2019, sections 4.2 and 4.3).
    """

    text: str
    start: int
    end: int
    score: float
    no_answer: float
    window: Window = field(repr=False)  # the window that is most certain of an answer
    span: tuple[int, int]  # the first and the last token of the best span, even if 'no answer' scores higher
    shares: np.ndarray = field(repr=False)  # [tokens, 2]: the probability that the answer begins, and ends, at each token


def choose(text: str, windows: Sequence[Window], scores: Sequence[np.ndarray]) -> Answer:
    """The answer to one question from the scores [tokens, 2] of its windows: that of the window most certain of an answer."""
    return max((_in_window(text, *scored) for scored in zip(windows, scores, strict=True)), key=lambda found: found[0])[1]


def _in_window(text: str, window: Window, scores: np.ndarray) -> tuple[float, Answer]:
    """The margin of the best span over 'no answer' (a difference of logits), and the answer in this window."""
    places = window.text_tokens
    first, last = best_span(scores[places, 0], scores[places, 1])
    start, end = places[first], places[last]
    logs = scores - np.log(np.exp(scores - scores.max(0)).sum(0)) - scores.max(0)  # [tokens, 2]
    surer = float(scores[start, 0] + scores[end, 1] - scores[0].sum())
    begin, stop = window.characters(start, end) if surer > 0 else (0, 0)
    score, no_answer = float(np.exp(logs[start, 0] + logs[end, 1])), float(np.exp(logs[0].sum()))
    return surer, Answer(text[begin:stop], begin, stop, score, no_answer, window, (start, end), np.exp(logs))
