"""Exercises of lessons in a room: the one that the class is given, and who has solved which."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from explorer.export import links
from explorer.teaching.classroom.rounds import Names
from explorer.teaching.lessons.exercises import Verdict, exercise_of
from explorer.teaching.lessons.sending import within_a_line

POINTS = 10  # for an exercise, as for a right answer


@dataclass(frozen=True)
class Solution:
    """What solved an exercise: the texts of the page, and what was found there, in words ('' if no number was asked for)."""

    texts: tuple[str, str]
    found: str
    model: str = ""  # that was asked, if it is not the one that the app opens with

    @classmethod
    def of(cls, verdict: Verdict) -> "Solution":
        link = dict(parse_qsl(verdict.query))
        return cls((link.get("a", ""), link.get("b", "")), verdict.found, verdict.model)

    def by(self, told: str) -> str:
        """A nickname, or what was found, with the model behind it if it is another one than the class has."""
        return f"{told} (with {self.model})" if self.model else told


@dataclass(eq=False)
class Task:
    """An exercise by its name, such as 03-one-head.1, and its solutions by person id."""

    name: str
    lesson: str  # number and title
    asks: str  # HTML
    begins: str  # the query of the link at which the exercise begins
    text: str  # what it asks for, without markup
    number: int = 0  # among the activities of the room
    solved: dict[str, Solution] = field(default_factory=dict)

    @classmethod
    def of(cls, name: object) -> "Task":
        """An exercise as a task. Raises InputError if there is none, ModelError if its model cannot be loaded."""
        lesson, exercise = exercise_of(name)
        begins = next(step.place for step in lesson.steps if step.exercise is exercise)
        told = lesson.heading, within_a_line(exercise.task), links.query(begins)
        return cls(str(name), *told, text=exercise.task.replace("*", ""))

    def has_of(self, person: str) -> bool:
        return person in self.solved

    def forget(self, person: str) -> None:
        self.solved.pop(person, None)

    def rows(self, names: Names) -> list[tuple[Any, ...]]:
        """A row of COLUMNS for each solution: the texts, what was found, and with which other model."""
        told = self.number, "exercise", f"Lesson {self.lesson}: {self.text}"
        found = [(names[who], solution) for who, solution in self.solved.items()]
        return [(*told, *by.texts, name, by.by(by.found or "done"), "", None, None, POINTS) for name, by in found]

    def for_board(self, names: Names) -> dict[str, Any]:
        """What the teacher's page may show; `names` by person id."""
        return {
            "name": self.name,
            "lesson": self.lesson,
            "asks": self.asks,
            "solved": [solution.by(names[who]) for who, solution in self.solved.items()],
        }

    def for_person(self, person: str) -> dict[str, Any]:
        """What one person's phone may show."""
        told = {"name": self.name, "lesson": self.lesson, "asks": self.asks, "query": self.begins}
        return told | {"done": person in self.solved}
