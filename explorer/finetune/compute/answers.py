"""A head that finds where a span of a text begins and ends, which answers a question, if any does."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import TRAINING_MEGABYTES
from explorer.core.steps import finished, map_steps
from explorer.finetune.compute.predictor import HeldOut, Predictor, Reads
from explorer.finetune.compute.prefix import EVERY_TOKEN, Prefix, encoded_hidden_in_steps
from explorer.finetune.compute.questions import Question, Questions
from explorer.finetune.compute.spans import Answer, Window, choose, exact_match, f1, windows_of
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.head import Objective

CUT_TOGETHER = 100  # questions tokenized between two reports of progress


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


def room(hidden: int) -> int:
    """The most tokens to train on for a model of this width: the activations take as much memory as their hidden states."""
    return TRAINING_MEGABYTES.bytes // (2 * 4 * hidden)


class Spans(Objective):
    """The first and the last token of the answer in each window: cross-entropy over all tokens of the window, in nats."""

    outputs = 2

    def __init__(self, questions: Questions, windows: Sequence[Window]) -> None:
        self.questions, self.windows = questions, windows
        self.targets = torch.tensor([window.tokens(questions.rows[window.row].span) for window in windows])  # [windows, 2]
        self._lengths = torch.tensor([window.encoding.kept for window in windows])

    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean over windows, of the first and the last token (Devlin et al. 2019, section 4.2)."""
        padded = torch.nn.utils.rnn.pad_sequence(
            self._of_each(scores, rows), batch_first=True, padding_value=-torch.inf
        )  # [windows, tokens, 2]
        return torch.nn.functional.cross_entropy(padded, self.targets[rows])

    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """Cross-entropy of the windows; exact match and F1 (0 to 1) of their questions."""
        said = self.answers(scores, rows)
        pairs = [(answer.text, self.questions.rows[row].answers) for row, answer in said.items()]
        shares = {score.__name__: float(np.mean([score(*pair) for pair in pairs])) for score in (exact_match, f1)}
        return {"loss": self.loss(scores, rows).item(), **shares}

    def answers(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[int, Answer]:
        """The answer to each question of the windows `rows`, by the row of the question, from the scores of all their tokens."""
        found: dict[int, tuple[list[Window], list[np.ndarray]]] = {}
        for place, mine in zip(rows.tolist(), self._of_each(scores, rows), strict=True):
            window = self.windows[place]
            windows, all_scores = found.setdefault(window.row, ([], []))
            windows.append(window)
            all_scores.append(mine.numpy())
        return {row: choose(self.questions.rows[row].text, *mine) for row, mine in found.items()}

    def _of_each(self, scores: torch.Tensor, rows: torch.Tensor) -> Sequence[torch.Tensor]:
        return scores.split(self._lengths[rows].tolist())


@dataclass(frozen=True, eq=False)
class Windows(Prefix):
    windows: Sequence[Window] = ()


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
    def read(
        cls, model: Explorer, inputs: Sequence[Pair], reads: Reads, fit: Callable[[list[Window]], list[Window]] = list
    ) -> Generator[float, None, Windows]:
        """The hidden states of the windows of questions and texts, of those that `fit` keeps, below the trained layers."""
        windows: list[Window] = []
        for start in range(0, len(inputs), CUT_TOGETHER):
            windows += windows_of(model, inputs[start : start + CUT_TOGETHER], start)
            yield 0.5 * min(1.0, (start + CUT_TOGETHER) / len(inputs))
        windows = fit(windows)
        encoded = [(window.encoding.ids, window.encoding.segments) for window in windows]
        steps = encoded_hidden_in_steps(model, encoded, reads.layer - reads.layers_trained)
        states = yield from map_steps(steps, lambda share: 0.5 + share / 2)
        questions = np.array([window.row for window in windows])
        return Windows(states, questions, questions, windows=windows)

    @classmethod
    def read_to_learn(
        cls, model: Explorer, examples: Questions, reads: Reads, held_out: np.ndarray, seed: int
    ) -> Generator[float, None, Windows]:
        """The windows that fit into memory: the held-out ones, and a sample of the others. Raises InputError if none do."""

        def fit(windows: list[Window]) -> list[Window]:
            sizes, most = np.array([window.encoding.kept for window in windows]), room(model.capabilities.hidden_size)
            if sizes.sum() <= most:
                return windows
            others = ~np.isin([window.row for window in windows], held_out)
            order = np.lexsort((np.random.default_rng(seed).permutation(len(windows)), others))
            kept = order[np.cumsum(sizes[order]) <= most]
            if not others[kept].any():
                raise InputError(TRAINING_MEGABYTES.tell(len(windows)))
            return [windows[place] for place in np.sort(kept)]

        return cls.read(model, examples.pairs, reads, fit)

    @classmethod
    def objective(cls, examples: Questions, prefix: Prefix, parts: Split) -> Spans:
        assert isinstance(prefix, Windows)
        return Spans(examples, prefix.windows)

    @classmethod
    def hold_out(cls, examples: Questions, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutAnswers:
        assert isinstance(prefix, Windows)
        said = Spans(examples, prefix.windows).answers(torch.from_numpy(scores), torch.from_numpy(rows))
        asked, answers = [examples.rows[row] for row in said], said.values()
        return HeldOutAnswers(
            tuple(one.question for one in asked),
            tuple(one.text for one in asked),
            tuple(list(one.answers) for one in asked),
            tuple(answer.text for answer in answers),
            np.array([[answer.score, answer.no_answer] for answer in answers], dtype=np.float32),
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
        ends = np.cumsum([window.encoding.kept for window in found.windows])[:-1]
        return choose(text, found.windows, np.split(self.head.outputs(self.vectors(found)), ends))


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
