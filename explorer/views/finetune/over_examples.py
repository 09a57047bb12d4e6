"""Long work on all the examples that are chosen: what its views have in common."""

from collections.abc import Hashable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from explorer.base.errors import InputError
from explorer.views.subject import Subject
from explorer.views.view import LongView


@runtime_checkable
class WithExamples(Protocol):
    """The settings that say which examples."""

    def examples(self) -> tuple[Hashable, str]:
        """The examples, and what is to be said of them. Raises InputError."""


class OverExamples(LongView):
    """Long work on all examples. Which ones, the settings say that a view of this kind has besides."""

    layout: ClassVar[Sequence[str]] = ()  # the boxes for the examples stand elsewhere

    def passes(self, subject: Subject) -> float:
        """Always worth asking for: it reads all examples, and needs no text."""
        return float("inf")

    def key(self, subject: Subject) -> Hashable:
        """The result is the same for the same model, and the same that is asked of it."""
        try:
            return self.name, subject.model_name, self.asked(subject)
        except InputError:
            return self.name, subject.model_name, None

    def asked(self, subject: Subject) -> Hashable:
        """What the result depends on besides the model: the examples. Raises InputError."""
        if not isinstance(self, WithExamples):
            raise TypeError(f"{type(self).__name__} has no examples")
        return self.examples()[0]
