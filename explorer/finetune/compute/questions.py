"""Questions on texts with their answers, spans of the text: the training data of question answering."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from explorer.core.errors import InputError
from explorer.core.limits import TEXTS
from explorer.core.paths import EXAMPLES
from explorer.text import limits
from explorer.text.pairs import Pair
from explorer.training.examples import HELD_OUT_SHARE, Split, group_rows, normalise, take_groups

BUILT_IN = EXAMPLES / "answers.jsonl"


@dataclass(frozen=True)
class Question:
    """A question on a text. `answers` are all correct ones, empty where the text has no answer.

    `start` is the character of the text at which the first of them begins, -1 without one.
    """

    question: str
    text: str
    answers: tuple[str, ...] = ()
    start: int = -1

    @property
    def answer(self) -> str:
        """The answer to train on; '' if there is none."""
        return self.answers[0] if self.answers else ""

    @property
    def span(self) -> tuple[int, int] | None:
        """Characters [start, end) of the answer in the text, or None."""
        return (self.start, self.start + len(self.answer)) if self.answers else None


@dataclass(frozen=True)
class Questions:
    """Questions, usually several on the same text."""

    rows: tuple[Question, ...]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every question with its text, as BERT reads them: text A and text B."""
        return [(one.question, one.text) for one in self.rows]

    @cached_property
    def texts(self) -> list[str]:
        """The different texts."""
        return list(dict.fromkeys(one.text for one in self.rows))

    @property
    def unanswered(self) -> int:
        """The number of questions without an answer in their text."""
        return sum(not one.answers for one in self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@cache
def built_in() -> Questions:
    """The questions of assets/examples/answers.jsonl: a text per line, with its questions and their answers."""
    lines = [json.loads(line) for line in BUILT_IN.read_text("utf-8").splitlines()]
    return Questions(tuple(place(asked, answer, line["text"]) for line in lines for asked, answer in line["questions"]))


def place(question: str, answer: str, text: str, name: str = "the question") -> Question:
    """A question with its answer found in the text: the first match as whole words, or else the first match at all.

    Case is ignored only for the second. Raises InputError when there is none.
    """
    if not answer:
        return Question(question, text)
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) or re.search(re.escape(answer), text, re.IGNORECASE)
    if found is None:
        raise InputError(f"The answer of {name} does not stand in its text; copy it from there, or leave it empty for none.")
    return Question(question, text, (found.group(),), found.start())


def read_typed(typed: str) -> Questions:
    """Questions as typed: a text, and below it one question per line with its answer after |, empty for none.

    An empty line ends a text. Raises InputError naming the line.
    """
    TEXTS.check(typed.count("\n"), "lines")
    rows: list[Question] = []
    text, asked = "", False
    for number, line in enumerate(map(str.strip, typed.splitlines()), start=1):
        question, bar, answer = (part.strip() for part in line.partition("|"))
        if bar and not text:
            raise InputError(f"Line {number} is a question without a text; put its text above it.")
        if not line or (asked and not bar):
            text, asked = line, False
        elif bar:
            rows.append(place(limits.check_text(question, f"the question in line {number}"), answer, text, f"line {number}"))
            asked = True
        else:
            text = limits.check_text(f"{text} {line}".strip(), f"the text above line {number + 1}")
    return check_enough(Questions(tuple(rows)))


def check_questions(given: object) -> Questions:
    """Questions from [[question, text, answer], ...], where '' is no answer. Raises InputError naming the first invalid one."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError("Send the examples as a list of [question, text, answer].")
    TEXTS.check(len(given), "examples")
    rows = []
    for number, row in enumerate(given, start=1):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
            raise InputError(f"Example {number} is not a question, a text and an answer.")
        question = limits.check_text(row[0], f"the question of example {number}")
        text = limits.check_text(row[1], f"the text of example {number}")
        answer = limits.check_optional_text(row[2], f"the answer of example {number}")
        rows.append(place(question, answer.strip(), text, f"example {number}"))
    return check_enough(Questions(tuple(rows)))


def check_enough(questions: Questions) -> Questions:
    """The questions unchanged.

    Raises InputError unless one has an answer to learn from, and there is a second text to hold out.
    """
    if not len(questions):
        raise InputError("There are no questions; give some on two texts or more.")
    if questions.unanswered == len(questions):
        raise InputError("No question has an answer in its text; give some that have.")
    if len({normalise(text) for text in questions.texts}) < 2:
        raise InputError("All questions are on one text; add some on another, to be held out.")
    return questions


def split_by_text(questions: Questions, seed: int, share: float = HELD_OUT_SHARE) -> Split:
    """Indices to train on and to hold out: all questions on a text (ignoring case and whitespace) stay on one side.

    About `share` of the questions, and at least those on one text, are held out. The same seed gives the same split. The
    questions to train on include one with an answer, see `check_enough`.
    """
    groups = group_rows(normalise(one.text) for one in questions.rows)
    answered = next(rows for rows in groups if any(questions.rows[row].answers for row in rows))
    drawn = [groups[place] for place in np.random.default_rng(seed).permutation(len(groups))]
    return Split.of(take_groups([rows for rows in drawn if rows is not answered], share * len(questions)), len(questions))
