"""Training question answering: where a span of a text begins and ends, with the layers below the head or without."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

import numpy as np

from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.limits import TRAINING_MEGABYTES
from explorer.finetune.compute.answering import Answer, Answerer, Window, Windows, choose, exact_match, f1
from explorer.finetune.compute.predictor import Predictor
from explorer.finetune.compute.prefix import Prefix
from explorer.finetune.compute.questions import Question, Questions, split_by_text
from explorer.finetune.compute.run import HeldOutAnswers
from explorer.finetune.compute.task import Task
from explorer.text.lines import Pair
from explorer.training.examples import Split
from explorer.training.objectives import Objective


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
        return {
            "loss": self.loss(scores, rows).item(),
            "exact_match": float(np.mean([exact_match(*pair) for pair in pairs])),
            "f1": float(np.mean([f1(*pair) for pair in pairs])),
        }

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


class Answering(Task[Questions]):
    """Training to find the span of a text that answers a question, if any does."""

    predictor = Answerer

    def split(self) -> Split:
        """A split by text: all questions on a text are on one side."""
        return split_by_text(self.examples, self.plan.settings.seed, self.plan.settings.held_out)

    @property
    def inputs(self) -> Sequence[Pair]:
        return self.examples.pairs

    def read(self) -> Generator[float, None, Prefix]:
        """The windows, or a sample of them that fits into memory."""
        return Answerer.read(self.model, self.inputs, self.plan, self._that_fit)

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

    def objective(self, prefix: Prefix, parts: Split) -> Spans:
        """Cross-entropy of the first and the last token."""
        assert isinstance(prefix, Windows)
        return Spans(self.examples, prefix.windows)

    def held_out(self, predictor: Predictor, prefix: Prefix, parts: Split) -> HeldOutAnswers:
        """The held-out questions with the predicted answers."""
        rows = prefix.split(parts).held_out
        scores = torch.from_numpy(predictor.head.outputs(predictor.vectors(prefix, rows)))
        said = self.objective(prefix, parts).answers(scores, torch.from_numpy(rows))
        asked, answers = [self.examples.rows[row] for row in said], said.values()
        return HeldOutAnswers(
            tuple(one.question for one in asked),
            tuple(one.text for one in asked),
            tuple(list(one.answers) for one in asked),
            tuple(answer.text for answer in answers),
            np.array([[answer.score, answer.no_answer] for answer in answers], dtype=np.float32),
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
