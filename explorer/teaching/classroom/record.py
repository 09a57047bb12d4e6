"""What a room did: its past rounds and heads, and the record of them that its teacher may take, as tables by nickname."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from explorer.teaching.classroom.questions import Guess
from explorer.teaching.classroom.rounds import Round, most_common
from explorer.teaching.classroom.tasks import POINTS, Task
from explorer.teaching.classroom.teaching import Teaching
from explorer.ui.pictures.numbers import Table

COLUMNS = ("activity", "kind", "question", "text_a", "text_b", "nickname", "answer", "expected", "rank", "probability", "points")
Names = Mapping[str, str]  # nicknames by person id


@dataclass(frozen=True)
class Past:
    """A round that is over. It keeps the answers, not the question with its 30,000 possible ones."""

    number: int
    kind: str
    asks: str
    texts: tuple[str, str]
    asked: int | None  # the blank or the token, as `Question.asked`
    expected: str  # BERT's first answer, or the right option; '' if it was not revealed
    best: tuple[tuple[str, float], ...]  # BERT's first answers with their probabilities
    guesses: dict[str, tuple[Guess, int]]  # with their points, by person id

    @classmethod
    def of(cls, played: Round) -> "Past":
        question, before = played.question, played.question.before
        answer: dict[str, Any] = question.answer if played.revealed else {}
        best = tuple(answer.get("best", ()))
        expected = answer.get("right") or (best[0][0] if best else "")
        guesses = {who: (guess, played.points(who) if played.revealed else 0) for who, guess in played.guesses.items()}
        asked: int | None = before.get("asked")
        return cls(played.number, question.kind, question.recorded, question.texts, asked, expected, best, guesses)

    def for_board(self) -> dict[str, Any]:
        """What the board lists of it."""
        told = {name: getattr(self, name) for name in ("number", "kind", "asks", "texts", "asked", "best", "expected")}
        answers = most_common(guess for guess, _ in self.guesses.values())
        right = sum(guess.rank == 1 for guess, _ in self.guesses.values()) if self.expected else None
        return told | {"answers": answers, "guessed": len(self.guesses), "right": right}

    def rows(self, names: Names) -> list[tuple[Any, ...]]:
        """A row of COLUMNS for each answer, the best first."""
        ranked = sorted(self.guesses.items(), key=lambda one: one[1][0].rank or float("inf"))
        told = self.number, self.kind, self.asks, *self.texts
        return [(*told, names[who], guess.name, self.expected, *self._rating(guess), points) for who, (guess, points) in ranked]

    def _rating(self, guess: Guess) -> tuple[int | None, float | None]:
        """Rank and probability of a guess; neither if BERT's answer was not revealed or none is asked for."""
        if not self.expected or self.kind == "lesson":
            return None, None
        return guess.rank, guess.share


def taught_rows(number: int, taught: Teaching, names: Names) -> list[tuple[Any, ...]]:
    """A row of COLUMNS for the head, and one for each example and each try to fool it."""
    about = f"A head for {', '.join(taught.labels)}"
    head = f"trained on {taught.trained_on} examples" if taught.trained_on else "not trained"
    rows: list[tuple[Any, ...]] = [(number, "head", about, "", "", "", head, "", None, taught.accuracy or None, None)]
    for one in taught.examples:
        rows.append((number, "example", about, one.text, "", names[one.person], one.label, "", None, None, None))
    for tried in taught.tries:
        told = names[tried.person], tried.meant, tried.answer, None, tried.share
        rows.append((number, "try", about, tried.text, "", *told, taught.earned(tried)))
    return rows


def task_rows(task: Task, names: Names) -> list[tuple[Any, ...]]:
    """A row of COLUMNS for each person who solved an exercise: the texts, what was found, and with which other model."""
    told = task.number, "exercise", f"Lesson {task.lesson}: {task.text}"
    found = [(names[who], one) for who, one in task.solved.items()]
    return [(*told, *one.texts, name, one.by(one.found or "done"), "", None, None, POINTS) for name, one in found]


def table(rounds: Iterable[Past], heads: Iterable[tuple[int, Teaching]], tasks: Iterable[Task], names: Names) -> Table:
    """All that a room did, a row for each answer, example, try and solved exercise."""
    groups = [(one.number, one.rows(names)) for one in rounds]
    groups += [(number, taught_rows(number, taught, names)) for number, taught in heads]
    groups += [(task.number, task_rows(task, names)) for task in tasks]
    return Table.of(COLUMNS, [row for _, rows in sorted(groups, key=lambda group: group[0]) for row in rows])
