"""What all looks at the layers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from explorer.views.subject import Subject
from explorer.views.view import Content, Finding

READ_ALONE = 10  # sentences that are read again by themselves, for the check


class Look(ABC):
    """What was found out about all hidden states over a corpus; `at` is the chosen one, 0 the embedding output."""

    @abstractmethod
    def shown(self, at: int) -> Content:
        """The pictures, and a sentence about them."""

    @abstractmethod
    def finding(self, at: int) -> Finding | None:
        """What is most telling."""

    @abstractmethod
    def check(self, subject: Subject, at: int) -> dict[str, str] | None:
        """What is shown, found in another way."""


@dataclass(frozen=True)
class Untold(Look):
    """Why there is nothing to see."""

    why: str

    def shown(self, at: int) -> Content:
        """The sentence."""
        return {"about": self.why}

    def finding(self, at: int) -> None:
        """Nothing."""

    def check(self, subject: Subject, at: int) -> None:
        """Nothing."""
