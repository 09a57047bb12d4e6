"""Exercises of lessons in a room: the one that the class is given, and who has solved which."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

POINTS = 10  # for an exercise, as for a right answer


@dataclass(frozen=True)
class Solution:
    """What solved an exercise: the texts of the page, and what was found there, in words ('' if no number was asked for)."""

    texts: tuple[str, str]
    found: str
    model: str = ""  # that was asked, if it is not the one that the app opens with

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

    def for_board(self, names: Mapping[str, str]) -> dict[str, Any]:
        """What the teacher's page may show; `names` by person id."""
        return {"name": self.name, "lesson": self.lesson, "asks": self.asks, "solved": self._solved_by(names)}

    def _solved_by(self, names: Mapping[str, str]) -> list[str]:
        return [solution.by(names[who]) for who, solution in self.solved.items()]

    def for_person(self, person: str) -> dict[str, Any]:
        """What one person's phone may show."""
        told = {"name": self.name, "lesson": self.lesson, "asks": self.asks, "query": self.begins}
        return told | {"done": person in self.solved}
