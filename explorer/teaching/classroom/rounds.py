"""A round: a question, what people guessed, and how much of both each screen may show.

A round, a `Teaching` and a `Task` are the activities of a room. Each says what screens show of it, and its rows of the record.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.core.errors import InputError
from explorer.teaching.classroom.questions import SHOWN, Asked, Guess, Question

COLUMNS = ("activity", "kind", "question", "text_a", "text_b", "nickname", "answer", "expected", "rank", "probability", "points")
"""Of the record that a teacher may take."""
Names = Mapping[str, str]  # nicknames by person id
CLOSEST = 3  # names listed after a round
ANSWERS = 12  # the most common ones
NOT_NOW = "No question is open. Wait for the next one."


def most_common(guesses: Iterable[Guess]) -> list[dict[str, Any]]:
    """The answers that were given most often, with how often."""
    given = Counter(guess.name for guess in guesses)
    return [{"name": name, "count": count} for name, count in given.most_common(ANSWERS)]


@dataclass(eq=False)
class Round:
    """A question and the guesses by person id.

    While people guess, screens show only how many have. Once the guesses are shown no one may change theirs, and then the
    answer is revealed.
    """

    question: Asked
    number: int = 1
    guesses: dict[str, Guess] = field(default_factory=dict)
    shown: bool = False  # whether the room's guesses are
    revealed: bool = False

    def keep(self, person: str, guess: Guess) -> None:
        """Store a guess, which may be changed until they close. Raises InputError after that."""
        if self.shown:
            raise InputError(NOT_NOW)
        self.guesses[person] = guess

    def points(self, person: str) -> int:
        """What a person's guess earns, once the answer is revealed."""
        guess = self.guesses.get(person)
        return self.question.points(guess) if guess and self.revealed else 0

    def has_of(self, person: str) -> bool:
        return person in self.guesses

    def forget(self, person: str) -> None:
        self.guesses.pop(person, None)

    def settle(self) -> None:
        """Keep of the question what the record shows: BERT may have 30,000 answers."""
        if isinstance(question := self.question, Question):
            names, shares = question.names[:SHOWN], question.shares[:SHOWN].copy()
            self.question = replace(question, names=names, shares=shares, rank_of=lambda typed: None)

    @property
    def expected(self) -> str:
        """BERT's first answer, or the right option; '' while it is not revealed."""
        answer = self.question.answer if self.revealed else {"right": ""}
        return str(answer["right"] if "right" in answer else answer["best"][0][0])

    def rows(self, names: Names) -> list[tuple[Any, ...]]:
        """A row of COLUMNS for each answer, the best first; no rank where BERT's answer is not revealed or not asked for."""
        told = self.number, self.question.kind, self.question.recorded, *self.question.texts
        rated = self.revealed and isinstance(self.question, Question)
        ratings = {who: (guess.rank, guess.share) if rated else (None, None) for who, guess in self.guesses.items()}
        answers = [(who, guess.name) for who, guess in self._ranked()]
        return [(*told, names[who], answer, self.expected, *ratings[who], self.points(who)) for who, answer in answers]

    # ---- What screens show.

    def for_person(self, person: str) -> dict[str, Any]:
        """What one person's phone may show."""
        told = self._for_all()
        if guess := self.guesses.get(person):
            told["guess"] = guess.name
            if self.revealed:
                told |= {"rank": guess.rank, "share": guess.share, "earned": self.points(person)}
                told["feedback"] = self.question.feedback(guess)
        return told

    def for_board(self, names: Names) -> dict[str, Any]:
        """What the teacher's page may show; `names` by person id."""
        told = self._for_all() | {"guessed": len(self.guesses)}
        if self.shown:
            told["answers"] = most_common(self.guesses.values())
        if self.revealed:
            close = [(names[who], guess.name, guess.rank) for who, guess in self._ranked() if guess.rank is not None]
            told["closest"] = close[:CLOSEST]
        return told

    def _ranked(self) -> list[tuple[str, Guess]]:
        return sorted(self.guesses.items(), key=lambda given: given[1].rank or float("inf"))

    def _for_all(self) -> dict[str, Any]:
        """The question; its answer only after it is revealed."""
        told = {"number": self.number, "open": not self.shown, "shown": self.shown, "revealed": self.revealed}
        return told | self.question.before | (self.question.answer if self.revealed else {})
