"""Questions for a class to guess: the word in a blank, whether B follows A, which token a head attends to most.

Such a question is a list of answers with BERT's probability for each, so a guess has a rank. The question of a lesson's step has
one right option instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from explorer.core.errors import InputError
from explorer.techniques.targets import piece_of
from explorer.text.encoding import MASK
from explorer.ui.subject import Subject, head_name

SHOWN = 5  # of BERT's answers, when they are revealed
POINTS = ((1, 10), (5, 5), (20, 2))  # (up to this rank, so many points)


@dataclass(frozen=True)
class Guess:
    """A guess and BERT's view of it; `rank` counts from 1, None if BERT cannot give this answer (a word of several pieces)."""

    name: str
    rank: int | None
    share: float  # BERT's probability for it, 0..1


class Asked(Protocol):
    """What a round asks."""

    @property
    def kind(self) -> str:
        """The kind of question, by which screens draw it."""

    @property
    def asks(self) -> str:
        """The question in a sentence, or its title."""

    @property
    def recorded(self) -> str:
        """The question as the record of the class has it, where nothing else tells what was asked."""

    @property
    def texts(self) -> tuple[str, str]:
        """Texts A and B that it is about, '' if there are none."""

    def guess(self, typed: str) -> Guess:
        """Rate what was typed, or an option's number. Raises InputError if it cannot be an answer."""

    def points(self, guess: Guess) -> int:
        """The points of a guess."""

    @property
    def before(self) -> dict[str, Any]:
        """What screens show of it while people guess."""

    @property
    def answer(self) -> dict[str, Any]:
        """What they show besides when the answer is revealed."""

    def feedback(self, guess: Guess) -> str:
        """What is told to who gave this answer, as HTML; '' for nothing."""


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
        """The points of a guess; with two possible answers, only the first earns any."""
        if guess.rank is None or (len(self.names) == 2 and guess.rank > 1):
            return 0
        return next((points for most, points in POINTS if guess.rank <= most), 0)

    def feedback(self, guess: Guess) -> str:
        """Nothing: the rank says it."""
        return ""

    @property
    def before(self) -> dict[str, Any]:
        """The question, without BERT's answers."""
        return {name: getattr(self, name) for name in ("kind", "asks", "texts", "options", "asked")}

    @property
    def answer(self) -> dict[str, Any]:
        """BERT's answers."""
        return {"best": self.best}

    @property
    def best(self) -> list[tuple[str, float]]:
        """BERT's SHOWN likeliest answers with their probabilities."""
        return [(str(name), float(share)) for name, share in zip(self.names[:SHOWN], self.shares[:SHOWN], strict=True)]


@dataclass(frozen=True)
class StepQuestion:
    """The question of a lesson's step: one option is right. `text`, `feedbacks` and `after` are HTML of the lesson's own file."""

    lesson: str  # its file's name
    place: str  # number of the lesson and of the step, as 7.2
    step: int  # from 1
    asks: str  # the step's title
    question: str  # what the text asks, without markup
    text: str
    texts: tuple[str, str]
    options: tuple[str, ...]
    right: int  # the number of the right option
    feedbacks: tuple[str, ...]  # for each option
    after: str  # what explains the answer
    point: str = ""  # the element id of the picture that it is about
    kind: str = "lesson"

    @property
    def recorded(self) -> str:
        """Where it stands in the lessons, its title, and the question."""
        return f"Lesson {self.place}, {self.asks}: {self.question}"

    def guess(self, typed: str) -> Guess:
        """Rate an option's number: rank 1 for the right one. Raises InputError."""
        option = _option(typed, len(self.options))
        return Guess(self.options[option], 1 if option == self.right else None, 0.0)

    def points(self, guess: Guess) -> int:
        """As many as for BERT's first answer if it is right."""
        return POINTS[0][1] if guess.rank == 1 else 0

    def feedback(self, guess: Guess) -> str:
        """The lesson's words for who chose this option."""
        return self.feedbacks[self.options.index(guess.name)]

    @property
    def before(self) -> dict[str, Any]:
        """The step's text and its options."""
        return {name: getattr(self, name) for name in ("kind", "asks", "lesson", "step", "text", "point", "options")}

    @property
    def answer(self) -> dict[str, Any]:
        """Which option is right, and why."""
        return {"right": self.options[self.right], "after": self.after}


def blank(subject: Subject) -> Question:
    """Which word BERT puts into the selected blank, or the first. Raises InputError without a blank, or CapabilityError."""
    model, trace = subject.model, subject.trace
    places = trace.blanks()
    place = subject.selection.token if subject.selection.token in places else places[0]
    (found,) = model.guesses(trace.states[-1][[place]], [place], model.module.config.vocab_size)
    ranks = {one.id: rank for rank, one in enumerate(found.candidates)}
    named = {one.token: rank for rank, one in enumerate(found.candidates)}

    def rank_of(typed: str) -> int | None:
        if typed in named:  # first, since the tokenizer takes milliseconds
            return named[typed]
        try:
            return ranks[piece_of(model, typed)[0]]
        except InputError:  # a word of several pieces does not fit a blank
            return None

    names, shares = [one.token for one in found.candidates], np.array([one.probability for one in found.candidates])
    asks = "Which word does BERT put into the blank?"
    return Question("blank", asks, _texts(subject), names, shares, rank_of, asked=places.index(place))


def pair(subject: Subject) -> Question:
    """Whether BERT takes B for the sentence after A. Raises InputError without B, or CapabilityError."""
    if not subject.text_b.strip():
        raise InputError("There is no second sentence; type one in B, which may follow A or not.")
    model = subject.model
    answer = model.next_sentence(subject.text_a, subject.text_b)
    options = ("They are in this order", "They are swapped") if model.family.pair_order else ("B follows A", "B is a stranger")
    asks = "Does B follow A? What does BERT say?"
    return _picked("pair", asks, subject, options, np.array([answer.is_next, answer.not_next]))


def target(subject: Subject) -> Question:
    """Which token the selected token attends to most, in the selected head. Raises InputError."""
    selection, tokens = subject.selection, subject.trace.tokens
    layer, head, query = selection.attention_layer, selection.head_index, subject.token
    shares = np.asarray(subject.trace.attention(layer)[head, query])  # [key]
    if len(tokens) > 40:
        raise InputError(f"The input has {len(tokens)} tokens, too many to pick from on a phone; shorten it to 40.")
    asks = f"In {head_name((layer, head))}: which token does “{tokens[query]}” look at most?"
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

    return Question(kind, asks, _texts(subject), names, shares[order], rank_of, options, asked)


def _option(typed: str, options: int) -> int:
    """The option that a number names. Raises InputError if there is none."""
    if not (typed.isascii() and typed.isdecimal() and len(typed) < 5 and int(typed) < options):
        raise InputError("Pick one of the answers.")
    return int(typed)


def _texts(subject: Subject) -> tuple[str, str]:
    return subject.text_a, subject.text_b


KINDS = {"blank": blank, "pair": pair, "target": target}
"""The kinds of question that a teacher may ask."""
