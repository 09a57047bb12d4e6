"""Training question answering: where a span of a text begins and ends, with the layers below the head or without."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import TRAINING_MEGABYTES
from explorer.core.steps import map_steps
from explorer.finetune.compute.answering import Answer, Answerer, Window, choose, exact_match, f1, windows_of
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.prefix import Ragged, hidden_in_steps
from explorer.finetune.compute.questions import Question, Questions, split_by_text
from explorer.finetune.compute.run import HeldOutAnswers
from explorer.finetune.compute.task import Task
from explorer.training.examples import Split
from explorer.training.objectives import Objective

CUT_TOGETHER = 100  # questions tokenized between two reports of progress


def room(hidden: int) -> int:
    """The most tokens to train on for a model of this width: the activations take as much memory as their hidden states."""
    return TRAINING_MEGABYTES.bytes // (2 * 4 * hidden)


class Below(NamedTuple):
    """Windows, and the hidden states of each."""

    windows: list[Window]
    states: Ragged

    def rows(self, questions: np.ndarray) -> np.ndarray:
        """The indices of the windows of some questions."""
        wanted = set(questions.tolist())
        return np.array([place for place, one in enumerate(self.windows) if one.row in wanted], dtype=np.int64)


class Spans(Objective):
    """The first and the last token of the answer in each window: cross-entropy over all tokens of the window, in nats."""

    outputs = 2

    def __init__(self, questions: Questions, below: Below) -> None:
        self.questions, self.below = questions, below
        self.targets = torch.tensor([window.tokens(questions.rows[window.row].span) for window in below.windows])  # [windows, 2]

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
        return {
            "loss": self.loss(scores, rows).item(),
            "exact_match": float(np.mean([exact_match(*pair) for pair in pairs])),
            "f1": float(np.mean([f1(*pair) for pair in pairs])),
        }

    def answers(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[int, Answer]:
        """The answer to each question of the windows `rows`, by the row of the question, from the scores of all their tokens."""
        found: dict[int, tuple[list[Window], list[np.ndarray]]] = {}
        for place, mine in zip(rows.tolist(), self._of_each(scores, rows), strict=True):
            window = self.below.windows[place]
            windows, all_scores = found.setdefault(window.row, ([], []))
            windows.append(window)
            all_scores.append(mine.numpy())
        return {row: choose(self.questions.rows[row].text, *mine) for row, mine in found.items()}

    def _of_each(self, scores: torch.Tensor, rows: torch.Tensor) -> Sequence[torch.Tensor]:
        return scores.split(self.below.states.lengths[rows].tolist())


class Answering(Task[Questions]):
    """Training to find the span of a text that answers a question, if any does."""

    predictor = Answerer

    def split(self) -> Split:
        """A split by text: all questions on a text are on one side."""
        return split_by_text(self.examples, self.plan.settings.seed, self.plan.settings.held_out)

    def read(self) -> Generator[float, None, Below]:
        """Windows and the hidden states below the trained layers, of all windows, or of a sample that fits into memory."""
        pairs, windows = self.examples.pairs, []
        for start in range(0, len(pairs), CUT_TOGETHER):
            windows += windows_of(self.model, pairs[start : start + CUT_TOGETHER], start)
            yield 0.5 * min(1.0, (start + CUT_TOGETHER) / len(pairs))
        windows = self._that_fit(windows)
        below = self.plan.layer - self.plan.layers_trained
        steps = hidden_in_steps(self.model, [window.pair for window in windows], below)
        states = yield from map_steps(steps, lambda share: 0.5 + share / 2)
        return Below(windows, states)

    def _that_fit(self, windows: list[Window]) -> list[Window]:
        """The held-out windows, and a random sample (by the seed) of the others that fit into memory.

        Raises InputError if none do.
        """
        sizes = np.array([window.encoding.kept for window in windows])
        most = room(self.model.capabilities.hidden_size)
        if sizes.sum() <= most:
            return windows
        held = set(self.split().held_out.tolist())
        others = np.array([window.row not in held for window in windows])
        order = np.lexsort((np.random.default_rng(self.plan.settings.seed).permutation(len(windows)), others))
        kept = order[np.cumsum(sizes[order]) <= most]
        if not others[kept].any():
            raise InputError(TRAINING_MEGABYTES.tell(len(windows)))
        return [windows[place] for place in np.sort(kept)]

    def rows(self, below: Below, parts: Split) -> Split:
        return Split(*(below.rows(rows) for rows in parts))

    def objective(self, below: Below, parts: Split) -> Spans:
        """Cross-entropy of the first and the last token."""
        return Spans(self.examples, below)

    def held_out(self, predictor: Predictor, below: Below, parts: Split) -> HeldOutAnswers:
        """The held-out questions with the predicted answers."""
        rows = torch.from_numpy(self.rows(below, parts).held_out)
        scores = torch.from_numpy(predictor.head.outputs(self.vectors(predictor, below, parts)))
        said = self.objective(below, parts).answers(scores, rows)
        return HeldOutAnswers(
            [self.examples.rows[row].question for row in said],
            [self.examples.rows[row].text for row in said],
            [list(self.examples.rows[row].answers) for row in said],
            [answer.text for answer in said.values()],
            np.array([[answer.score, answer.no_answer] for answer in said.values()], dtype=np.float32),
        )

    def baselines(self, parts: Split) -> dict[str, float]:
        """Exact match of always 'no answer', and of a word overlap without BERT."""
        held = [self.examples.rows[row] for row in parts.held_out]
        said = {"no answer, always": [""] * len(held), "word overlap": [overlap_answer(question) for question in held]}
        return {name: _exact(answers, held) for name, answers in said.items()}


def _exact(said: Sequence[str], held: Sequence[Question]) -> float:
    return float(np.mean([exact_match(answer, one.answers) for answer, one in zip(said, held, strict=True)]))


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
