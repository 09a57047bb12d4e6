"""The base of the views of layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding

READ_ALONE = 10  # sentences run again alone for the check


class Look(ABC):
    """A result about all hidden states over a corpus; `at` is the selected one, 0 the embedding output."""

    @abstractmethod
    def shown(self, at: int) -> Content:
        """The pictures, and a sentence about them."""

    @abstractmethod
    def finding(self, at: int) -> Finding | None:
        """The most telling fact."""

    @abstractmethod
    def check(self, subject: Subject, at: int) -> dict[str, str] | None:
        """A check of the result by another computation."""


@dataclass(frozen=True)
class Untold(Look):
    """A result that could not be computed, with the reason."""

    why: str

    def shown(self, at: int) -> Content:
        return {"about": self.why}

    def finding(self, at: int) -> None:
        """No finding."""

    def check(self, subject: Subject, at: int) -> None:
        """No check."""
