"""The base of views of a task head."""

from abc import abstractmethod
from typing import ClassVar

from explorer.techniques.own_head import own_error
from explorer.ui.subject import Subject
from explorer.ui.view import Content, Finding, View, matches, part, prose


class HeadView(View):
    """The output of a head for one task; nothing if the model's head has another task."""

    task: ClassVar[str]
    check = part("check", optional=True)
    help = prose(classes="caption", optional=True)

    @abstractmethod
    def tell(self, subject: Subject) -> Content:
        """The contents, except for the check."""

    def telling(self, subject: Subject) -> Finding | None:
        """The most telling fact, for a model with such a head."""
        return None

    def finding(self, subject: Subject) -> Finding | None:
        """The most telling fact, if the model's head has this task."""
        return self.telling(subject) if subject.model.capabilities.own_head == self.task else None

    def compute(self, subject: Subject) -> Content:
        """The output of the head, and a check against transformers' own forward pass."""
        if subject.model.capabilities.own_head != self.task:
            return {}
        proof = matches(own_error(subject.trace), "the logits are those of transformers' own forward pass")
        return self.tell(subject) | {"check": proof}
