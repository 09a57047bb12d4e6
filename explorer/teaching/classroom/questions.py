"""Questions for a class to guess: the word in a blank, whether B follows A, which token a head attends to most.

Such a question is a list of answers with BERT's probability for each, so a guess has a rank. The question of a lesson's step has
one right option instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.teaching.lessons.lesson import Lesson, Step
from explorer.teaching.lessons.reading import lessons
from explorer.teaching.lessons.sending import as_html, within_a_line
from explorer.techniques.targets import piece_of
from explorer.text.encoding import MASK
from explorer.ui.subject import Subject, head_name

SHOWN = 5  # of BERT's answers, when they are revealed
NO_STEP = "There is no such step, or it has no choices. Open the lesson again."
POINTS = ((1, 10), (5, 5), (20, 2))  # (up to this rank, so many points)


@dataclass(frozen=True)
class Guess:
    """A guess and BERT's view of it; `rank` counts from 1, None if BERT cannot give this answer (a word of several pieces)."""

    name: str
    rank: int | None
    share: float  # BERT's probability for it, 0..1


@dataclass(frozen=True, eq=False)
class Question:
    """A question with BERT's answers: `names` and `shares` [answers], best first.

    `options` are the answers to pick from, in the order of the input; if empty, a word is typed.
    """

    kind: str
    asks: str
    texts: tuple[str, str]
    names: Sequence[str]
    shares: np.ndarray
    rank_of: Callable[[str], int | None] = field(repr=False)  # zero-based rank of a typed word, or of an option's number
    options: tuple[str, ...] = ()
    asked: int | None = None  # the option that is the query token, or the number of the [MASK] to guess

    @property
    def recorded(self) -> str:
        """The question, with the number of the blank if there are several."""
        if self.kind == "blank" and self.asked is not None and sum(text.count(MASK) for text in self.texts) > 1:
            return f"{self.asks} (number {self.asked + 1})"
        return self.asks

    def guess(self, typed: str) -> Guess:
        """Rate a typed answer. Raises InputError if it cannot be an answer."""
        rank = self.rank_of(typed)
        if rank is None:
            return Guess(typed.lower(), None, 0.0)
        return Guess(self.names[rank], rank + 1, float(self.shares[rank]))

    def points(self, guess: Guess) -> int:
        if guess.rank is None or (len(self.names) == 2 and guess.rank > 1):
            return 0
        return next((points for most, points in POINTS if guess.rank <= most), 0)

    def feedback(self, guess: Guess) -> str:
        return ""  # the rank says it

    @property
    def before(self) -> dict[str, Any]:
        """What screens show of it while people guess."""
        return {name: getattr(self, name) for name in ("kind", "asks", "texts", "options", "asked")}

    @property
    def answer(self) -> dict[str, Any]:
        """BERT's SHOWN likeliest answers with their probabilities."""
        return {"best": [(str(name), float(share)) for name, share in zip(self.names[:SHOWN], self.shares[:SHOWN], strict=True)]}


@dataclass(frozen=True, eq=False)
class StepQuestion:
    """The question of a lesson's step, of whose options one is right."""

    lesson: Lesson
    number: int  # of the step, from 1
    kind = "lesson"

    @property
    def step(self) -> Step:
        return self.lesson.steps[self.number - 1]

    @property
    def asks(self) -> str:
        return self.step.title

    @property
    def recorded(self) -> str:
        return f"Lesson {self.lesson.number}.{self.number}, {self.asks}: {self.step.question}"

    @property
    def texts(self) -> tuple[str, str]:
        return self.step.link["a"], self.step.link.get("b", "")

    def guess(self, typed: str) -> Guess:
        """Rate an option's number: rank 1 for the right one. Raises InputError."""
        option = self.step.options[_option(typed, len(self.step.options))]
        return Guess(option.text, 1 if option.right else None, 0.0)

    def points(self, guess: Guess) -> int:
        return POINTS[0][1] if guess.rank == 1 else 0

    def feedback(self, guess: Guess) -> str:
        """The lesson's words for who chose this option, as HTML."""
        return within_a_line(next(option.feedback for option in self.step.options if option.text == guess.name))

    @cached_property
    def before(self) -> dict[str, Any]:
        """What screens show of it while people guess."""
        step = self.step
        told = {"kind": self.kind, "asks": self.asks, "lesson": self.lesson.name, "step": self.number}
        return told | {"text": as_html(step.before), "point": step.point, "options": [option.text for option in step.options]}

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Which option is right, and why."""
        right = next(option.text for option in self.step.options if option.right)
        return {"right": right, "after": as_html(self.step.after)}


Asked = Question | StepQuestion
"""What a round asks."""


def question_of_step(name: object, number: object) -> StepQuestion:
    """The question of a lesson's step, counted from 1. Raises InputError if there is none, LessonError for a broken lesson."""
    lesson = next((lesson for lesson in lessons() if lesson.name == name), None)
    if lesson and isinstance(number, int) and 1 <= number <= len(lesson.steps) and lesson.steps[number - 1].options:
        return StepQuestion(lesson, number)
    raise InputError(NO_STEP)


def blank(subject: Subject) -> Question:
    """Which word BERT puts into the selected blank, or the first. Raises InputError without a blank, or CapabilityError."""
    model, trace = subject.model, subject.trace
    places = trace.blanks()
    place = subject.selection.token if subject.selection.token in places else places[0]
    (found,) = model.guesses(trace.states[-1][[place]], [place], model.module.config.vocab_size)
    ranks = {candidate.id: rank for rank, candidate in enumerate(found.candidates)}
    named = {candidate.token: rank for rank, candidate in enumerate(found.candidates)}

    def rank_of(typed: str) -> int | None:
        if typed in named:  # first, since the tokenizer takes milliseconds
            return named[typed]
        if len(typed.split()) > 1:
            raise InputError("The blank takes one word. Type one word.")
        try:
            return ranks[piece_of(model, typed)[0]]
        except InputError:  # a word of several pieces does not fit a blank
            return None

    names = [candidate.token for candidate in found.candidates]
    shares = np.array([candidate.probability for candidate in found.candidates])
    asks = "Which word does BERT fill in?"
    return Question("blank", asks, (subject.text_a, subject.text_b), names, shares, rank_of, asked=places.index(place))


def pair(subject: Subject) -> Question:
    """Whether BERT takes B for the sentence after A. Raises InputError without B, or CapabilityError."""
    if not subject.text_b.strip():
        raise InputError("B has no sentence. Type one that may or may not follow A.")
    model = subject.model
    answer = model.next_sentence(subject.text_a, subject.text_b)
    options = ("They are in this order", "They are swapped") if model.family.pair_order else ("B follows A", "B is unrelated")
    asks = "Does B follow A, by BERT?"
    return _picked("pair", asks, subject, options, np.array([answer.is_next, answer.not_next]))


def target(subject: Subject) -> Question:
    """Which token the selected token attends to most, in the selected head. Raises InputError."""
    selection, tokens = subject.selection, subject.trace.tokens
    layer, head, query = selection.attention_layer, selection.head_index, subject.token
    shares = np.asarray(subject.trace.attention(layer)[head, query])  # [key]
    if len(tokens) > 40:
        raise InputError(f"The input has {len(tokens)} tokens, too many to pick from on a phone. Shorten it to 40.")
    asks = f"In {head_name((layer, head))}: which token does “{tokens[query]}” attend to most?"
    return _picked("target", asks, subject, tuple(tokens), shares, query)


def _picked(
    kind: str, asks: str, subject: Subject, options: tuple[str, ...], shares: np.ndarray, asked: int | None = None
) -> Question:
    """A question whose answers are its options; a guess is an option's number."""
    order = np.argsort(-shares, kind="stable")
    ranks = {int(option): rank for rank, option in enumerate(order)}
    twice = {name for name in options if options.count(name) > 1}
    names = [f"{options[option]} ({option})" if options[option] in twice else options[option] for option in order]

    def rank_of(typed: str) -> int:
        return ranks[_option(typed, len(options))]

    return Question(kind, asks, (subject.text_a, subject.text_b), names, shares[order], rank_of, options, asked)


def _option(typed: str, options: int) -> int:
    """The option that a number names. Raises InputError if there is none."""
    if not (typed.isascii() and typed.isdecimal() and len(typed) < 5 and int(typed) < options):
        raise InputError("Pick one of the answers.")
    return int(typed)


KINDS = {"blank": blank, "pair": pair, "target": target}
"""The kinds of question that a teacher may ask."""
