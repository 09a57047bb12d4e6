"""What every head of its own is shown with."""

from abc import abstractmethod
from typing import ClassVar

from explorer.techniques.own_head import own_error
from explorer.views.subject import Subject
from explorer.views.view import Content, Finding, View, matches, part, prose


class HeadView(View):
    """What a head with one task tells; nothing where the model's has another."""

    task: ClassVar[str]
    check = part("check", optional=True)
    help = prose(classes="caption", optional=True)

    @abstractmethod
    def tell(self, subject: Subject) -> Content:
        """What is to be seen, but for the check."""

    def telling(self, subject: Subject) -> Finding | None:
        """What is most telling, for a model with such a head."""
        return None

    def finding(self, subject: Subject) -> Finding | None:
        """What is most telling, where the model's head has this task."""
        return self.telling(subject) if subject.model.capabilities.own_head == self.task else None

    def compute(self, subject: Subject) -> Content:
        """What the head tells, and whether transformers says the same."""
        if subject.model.capabilities.own_head != self.task:
            return {}
        proof = matches(own_error(subject.trace), "the logits are those of transformers' own forward pass")
        return self.tell(subject) | {"check": proof}
