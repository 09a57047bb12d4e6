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
        return {"name": self.name, "lesson": self.lesson, "asks": self.asks, "solved": [names[who] for who in self.solved]}

    def for_person(self, person: str) -> dict[str, Any]:
        """What one person's phone may show."""
        told = {"name": self.name, "lesson": self.lesson, "asks": self.asks, "query": self.begins}
        return told | {"done": person in self.solved}
