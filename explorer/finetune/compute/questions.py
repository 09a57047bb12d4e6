"""Questions on texts with their answers, spans of the text: the training data of question answering.

Files are in the format of SQuAD (Rajpurkar et al. 2016 and 2018), nested, or flat as in the `datasets` library.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Foreign, Misfit, parse, parse_each
from explorer.core.limits import MEGABYTE, SHORTEN, TABLE_MEGABYTES, TEXTS, VALUES, Limit
from explorer.text import limits
from explorer.text.characters import decode
from explorer.text.lines import Pair
from explorer.training.examples import HELD_OUT_SHARE, Split, draw_groups, group_rows, normalise, sample_rows, sent_examples

MOST_ANSWER = Limit(1_000, SHORTEN)  # the search takes a step for each of its letters and of the text's
STRANGE = "The file is not in SQuAD's format. Send its whole JSON or lines of {question, context, answers: {text, answer_start}}."
NO_ANSWERS = "A question has no answers, as in a test set. Choose the part to train on; is_impossible marks one without."


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
    about: str = field(default="", compare=False)  # a sentence on how a file was read

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every question with its text, as BERT reads them: text A and text B."""
        return [(row.question, row.text) for row in self.rows]

    @property
    def texts(self) -> list[str]:
        return list(dict.fromkeys(row.text for row in self.rows))

    @property
    def unanswered(self) -> int:
        """The number of questions without an answer in their text."""
        return sum(not row.answers for row in self.rows)

    def split(self, seed: int, share: float = HELD_OUT_SHARE) -> Split:
        """Indices to train on and to hold out: all questions on a text (ignoring case and whitespace) stay on one side.

        About `share` of the questions, and at least those on one text, are held out. The same seed gives the same split. The
        questions to train on include one with an answer, see `check_enough`.
        """
        groups = group_rows(normalise(row.text) for row in self.rows)
        answered = next(rows for rows in groups if any(self.rows[row].answers for row in rows))
        return Split.of(draw_groups(groups, share, np.random.default_rng(seed), answered), len(self))

    def __len__(self) -> int:
        return len(self.rows)


def place(question: object, answer: object, text: object, name: str = "the example") -> Question:
    """A question with its answer found in the text: the first match as whole words, or else the first match at all.

    Case is ignored only for the second. Raises InputError when there is none.
    """
    question = limits.check_text(question, f"the question of {name}")
    text = limits.check_text(text, f"the text of {name}")
    answer = limits.check_optional_text(answer, f"the answer of {name}", MOST_ANSWER).strip()
    if not answer:
        return Question(question, text)
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) or re.search(re.escape(answer), text, re.IGNORECASE)
    if found is None:
        raise InputError(f"The answer of {name} is not in its text. Copy it from the text, or leave it empty for none.")
    return Question(question, text, (found.group(),), found.start())


def check_questions(given: object) -> Questions:
    """Questions from [[question, text, answer], ...], where '' means no answer.

    Raises InputError naming the first invalid one.
    """
    rows = sent_examples(given, "[question, text, answer]", "a question, a text and an answer", TEXTS, 3)
    return check_enough(Questions(tuple(place(question, answer, text, name) for name, (question, text, answer) in rows)))


def check_enough(questions: Questions) -> Questions:
    """The questions unchanged.

    Raises InputError unless one has an answer to learn from, and there is a second text to hold out.
    """
    if not len(questions):
        raise InputError("The list has no questions. Add some on two texts or more.")
    if questions.unanswered == len(questions):
        raise InputError("No question has an answer in its text. Add some that have.")
    if len(set(map(normalise, questions.texts))) < 2:
        raise InputError("All questions are on one text. Add some on another, to be held out.")
    return questions


@apart
def read_questions(path: Path) -> Questions:
    """The questions of a SQuAD file, version 1.1 or 2.0; too many are sampled, always the same.

    Raises InputError when the file is too large or in another format, or an answer is not at its place; it names the question.
    """
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    try:
        found = list(enumerate(_entries(decode(path.read_bytes())[0].encode()), start=1))
    except ValueError as error:
        raise InputError(STRANGE) from error
    if not found:
        raise InputError("The file has no questions. Add at least two, on two texts.")
    drawn, note = sample_rows(found, TEXTS.most, "questions in the file")
    about = note or f"{len(found):,} questions in the file"
    return check_enough(Questions(tuple(_check(number, *entry) for number, entry in drawn), f"{about}."))


class _Answer(Foreign):
    text: str
    answer_start: int


class _Asked(Foreign):
    question: str
    answers: Every[_Answer] | None = None
    is_impossible: bool = False


class _Paragraph(Foreign):
    context: str
    qas: Every[_Asked]


class _Article(Foreign):
    paragraphs: Every[_Paragraph]


class _Squad(Foreign):
    data: Every[_Article]


class _Answers(Foreign):
    text: Every[str]
    answer_start: Every[int]


class _Row(Foreign):
    """A question as the `datasets` library has it."""

    question: str
    context: str
    answers: _Answers


_Entry = tuple[str, str, list[tuple[str, int]]]  # a question, its text, and answers with the characters at which they begin


def _entries(data: bytes) -> Iterator[_Entry]:
    """The questions of a file, nested or flat. Raises Misfit, and InputError for a question without answers."""
    try:
        nested = parse(_Squad, data, VALUES)
    except Misfit:
        for row in parse_each(_Row, data, VALUES):
            yield row.question, row.context, list(zip(row.answers.text, row.answers.answer_start, strict=True))
        return
    for paragraph in (paragraph for article in nested.data for paragraph in article.paragraphs):
        for asked in paragraph.qas:
            if asked.answers is None and not asked.is_impossible:
                raise InputError(NO_ANSWERS)
            answers = [] if asked.is_impossible else asked.answers or []
            yield asked.question, paragraph.context, [(answer.text, answer.answer_start) for answer in answers]


def _check(number: int, question: str, text: str, answers: list[tuple[str, int]]) -> Question:
    question = limits.check_text(question, f"question {number}").strip()
    text = limits.check_text(text, f"the text of question {number}")
    for answer, start in answers:
        limits.check_text(answer, f"the answer of question {number}")
        if not (start >= 0 and text.startswith(answer, start)):
            raise InputError(f"The answer of question {number} is not at character {start} of its text. Count characters from 0.")
    found, starts = zip(*answers, strict=True) if answers else ((), (-1,))
    return Question(question, text, tuple(dict.fromkeys(found)), starts[0])
