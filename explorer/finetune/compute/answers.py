"""A head that finds where a span of a text begins and ends, which answers a question, if any does.

The measures are those of SQuAD: Rajpurkar et al. 2016, section 6.1, and 2018 for questions without an answer. Of a long text only
the beginning is read.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.steps import finished
from explorer.finetune.compute.layers import EVERY_TOKEN, Prefix, Ragged, hidden_in_steps
from explorer.finetune.compute.predictor import HeldOut, Predictor, Reads
from explorer.finetune.compute.questions import Question, Questions
from explorer.text.encoding import Encoding
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.head import Objective

LONGEST_ANSWER = 30  # tokens
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


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question: characters [start, end) of its text, or '' with 0 and 0 when 'no answer' scores higher.

    `score` is the share p(start) · p(end) of the best span, `no_answer` that of [CLS], 0 to 1 each (softmax over all tokens,
    Devlin et al. 2019, sections 4.2 and 4.3).
    """

    text: str
    start: int
    end: int
    score: float
    no_answer: float
    encoding: Encoding = field(repr=False)
    span: tuple[int, int]  # the first and the last token of the best span, even if 'no answer' scores higher
    shares: np.ndarray = field(repr=False)  # [tokens read, 2]: the probability that the answer begins, and ends, at each

    @property
    def read(self) -> int:
        """How many characters of the text were read: a long text is cut."""
        places = places_of(self.encoding, len(self.shares))
        return self.encoding.offsets[places[-1]][1] if places else 0


def places_of(encoding: Encoding, read: int) -> list[int]:
    """The tokens of the text, of the first `read` ones of the pair; the last one read is [SEP]."""
    return [token for token in range(read - 1) if encoding.sequences[token] == 1]


def locate(encoding: Encoding, read: int, span: tuple[int, int] | None) -> tuple[int, int]:
    """The first and the last token, both included, of characters [start, end) of the text.

    (0, 0), which is [CLS], without an answer or when not all of it is read: Devlin et al. 2019, section 4.3.
    """
    if span is None:
        return 0, 0
    offsets = encoding.offsets
    inside = [token for token in places_of(encoding, read) if offsets[token][0] < span[1] and offsets[token][1] > span[0]]
    whole = inside and offsets[inside[0]][0] <= span[0] and offsets[inside[-1]][1] >= span[1]
    return (inside[0], inside[-1]) if whole else (0, 0)


def choose(text: str, encoding: Encoding, scores: np.ndarray) -> Answer:
    """The best span of a text, or none, from the scores [tokens read, 2]."""
    places = places_of(encoding, len(scores)) or [0]  # a question so long that nothing of its text is read has no answer
    first, last = best_span(scores[places, 0], scores[places, 1])
    start, end = places[first], places[last]
    logs = scores - np.log(np.exp(scores - scores.max(0)).sum(0)) - scores.max(0)  # [tokens, 2]
    found = float(scores[start, 0] + scores[end, 1] - scores[0].sum()) > 0
    begin, stop = (encoding.offsets[start][0], encoding.offsets[end][1]) if found else (0, 0)
    score, no_answer = float(np.exp(logs[start, 0] + logs[end, 1])), float(np.exp(logs[0].sum()))
    return Answer(text[begin:stop], begin, stop, score, no_answer, encoding, (start, end), np.exp(logs))


@dataclass(frozen=True, eq=False)
class HeldOutAnswers(HeldOut):
    questions: tuple[str, ...]
    texts: tuple[str, ...]
    accepted: tuple[list[str], ...]  # the correct answers, empty where the text has none
    said: tuple[str, ...]  # predicted; '' is no answer
    scores: np.ndarray  # [questions, 2] shares of the best span and of no answer, 0 to 1

    arrays = ("scores",)

    @property
    def pairs(self) -> list[Pair]:
        return list(zip(self.questions, self.texts, strict=True))

    @cached_property
    def hits(self) -> np.ndarray:
        """[questions] bool: whether the prediction is an accepted answer."""
        return np.array(list(map(exact_match, self.said, self.accepted)), bool)


class Spans(Objective):
    """The first and the last token of the answer to each question: cross-entropy over all tokens of its text, in nats."""

    outputs = 2

    def __init__(self, questions: Questions, encodings: Sequence[Encoding], lengths: torch.Tensor) -> None:
        """Encodings of all questions with their texts, and the tokens read of each, [questions]."""
        self.questions, self.encodings, self.lengths = questions.rows, encodings, lengths
        read = zip(questions.rows, encodings, lengths.tolist(), strict=True)
        self.targets = torch.tensor([locate(encoding, length, row.span) for row, encoding, length in read])  # [questions, 2]

    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean over questions, of the first and the last token (Devlin et al. 2019, section 4.2)."""
        padded = torch.nn.utils.rnn.pad_sequence(
            self._of_each(scores, rows), batch_first=True, padding_value=-torch.inf
        )  # [questions, tokens, 2]
        return torch.nn.functional.cross_entropy(padded, self.targets[rows])

    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """Cross-entropy, exact match and F1 (0 to 1)."""
        asked = [self.questions[row] for row in rows.tolist()]
        pairs = [(said.text, one.answers) for one, said in zip(asked, self.answers(scores, rows), strict=True)]
        shares = {score.__name__: float(np.mean([score(*pair) for pair in pairs])) for score in (exact_match, f1)}
        return {"loss": self.loss(scores, rows).item(), **shares}

    def answers(self, scores: torch.Tensor, rows: torch.Tensor) -> list[Answer]:
        """The answers to the questions `rows`, from the scores of all their tokens."""
        given = zip(rows.tolist(), self._of_each(scores, rows), strict=True)
        return [choose(self.questions[row].text, self.encodings[row], mine.numpy()) for row, mine in given]

    def _of_each(self, scores: torch.Tensor, rows: torch.Tensor) -> Sequence[torch.Tensor]:
        return scores.split(self.lengths[rows].tolist())


class Answerer(Predictor):
    """Finds the span of a text that answers a question, if any does."""

    kind, does, asked_by = "spans", "finds answers", "/answer"
    learns, record = Questions, HeldOutAnswers
    measures = ("loss", "exact_match", "f1")
    poolings = (EVERY_TOKEN,)
    every_token = True
    own_labels = ("start", "end")
    samples = (("one", "and another"),)
    auto_class, standard_poolings = "AutoModelForQuestionAnswering", (EVERY_TOKEN,)
    opened_by = 'AutoModelForQuestionAnswering.from_pretrained("FOLDER")'

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Pair], reads: Reads) -> Generator[float, None, Prefix]:
        """The hidden states of questions with their texts below the trained layers."""
        encodings = [model.encode(*pair) for pair in inputs]
        encoded = [(encoding.ids, encoding.segments) for encoding in encodings]
        states = yield from hidden_in_steps(model, encoded, reads.layer - reads.layers_trained)
        return Prefix(states, every := np.arange(len(inputs)), every, encodings=encodings)

    @classmethod
    def objective(cls, examples: Questions, prefix: Prefix, parts: Split) -> Spans:
        assert isinstance(prefix.states, Ragged)
        return Spans(examples, prefix.encodings, prefix.states.lengths)

    @classmethod
    def hold_out(cls, examples: Questions, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutAnswers:
        said = cls.objective(examples, prefix, Split(rows, rows)).answers(torch.from_numpy(scores), torch.from_numpy(rows))
        asked = [examples.rows[row] for row in rows]
        return HeldOutAnswers(
            tuple(one.question for one in asked),
            tuple(one.text for one in asked),
            tuple(list(one.answers) for one in asked),
            tuple(answer.text for answer in said),
            np.array([[answer.score, answer.no_answer] for answer in said], dtype=np.float32),
        )

    @classmethod
    def baselines(cls, examples: Questions, parts: Split) -> dict[str, float]:
        """Exact match of always 'no answer', and of a word overlap without BERT."""
        held = [examples.rows[row] for row in parts.held_out]
        said = {"no answer, always": [""] * len(held), "word overlap": [overlap_answer(question) for question in held]}
        accepted = [question.answers for question in held]
        return {name: float(np.mean(list(map(exact_match, answers, accepted)))) for name, answers in said.items()}

    def answer(self, model: Explorer, question: str, text: str) -> Answer:
        """The best span of the text, or none. Raises InputError when the question or the text cannot be read."""
        found = finished(self.read(model, [(question, text)], self))
        return choose(text, found.encodings[0], self.head.outputs(self.vectors(found)))


def overlap_answer(asked: Question) -> str:
    """A guess without BERT: in the sentence that shares most words with the question, the longest run of words not in it."""
    words = set(re.findall(r"\w+", asked.question.lower()))
    sentences = re.split(r"(?<=[.!?])\s+", asked.text)
    nearest = max(sentences, key=lambda sentence: len(words & set(re.findall(r"\w+", sentence.lower()))))
    runs: list[list[re.Match[str]]] = [[]]
    for word in re.finditer(r"\w+", nearest):
        if word.group().lower() in words:
            runs.append([])
        else:
            runs[-1].append(word)
    longest = max(runs, key=len)
    return nearest[longest[0].start() : longest[-1].end()] if longest else ""
