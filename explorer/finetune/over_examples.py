"""The base of long work on all chosen examples."""

from collections.abc import Hashable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from explorer.core.errors import InputError
from explorer.ui.subject import Subject
from explorer.ui.view import LongView


@runtime_checkable
class WithExamples(Protocol):
    """The settings that choose the examples."""

    def examples(self) -> tuple[Hashable, str]:
        """The examples, and a note about them. Raises InputError."""


class OverExamples(LongView):
    """Long work on all examples, which are chosen by the settings of a second base class."""

    layout: ClassVar[Sequence[str]] = ()  # the boxes for the examples are in another view

    def passes(self, subject: Subject) -> float:
        """Infinite, so that it always waits for its button: it reads all examples, and needs no text."""
        return float("inf")

    def key(self, subject: Subject) -> Hashable:
        """The key of the cached result: the model and what `asked` returns."""
        try:
            return self.name, subject.model_name, self.asked(subject)
        except InputError:
            return self.name, subject.model_name, None

    def asked(self, subject: Subject) -> Hashable:
        """What the result depends on besides the model: the examples. Raises InputError."""
        if not isinstance(self, WithExamples):
            raise TypeError(f"{type(self).__name__} has no examples")
        return self.examples()[0]
