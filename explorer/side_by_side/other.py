"""The other side: another model, another input, or both."""

from collections.abc import Sequence
from typing import ClassVar

from explorer.text.encoding import Encoding
from explorer.ui.layout import LayoutRow, row
from explorer.ui.settings import text
from explorer.ui.subject import Subject
from explorer.ui.swapping import Swap, usual_swaps
from explorer.ui.view import View


class SideView(View):
    """The base of views that compare two sides; all share the settings of the other side."""

    other_model: str = text(
        "", "The other model", placeholder="the same one", heard="submit blur", scale=4, elem_classes="inline"
    )
    other_a: str = text("", "The other A", placeholder="the same text", heard="submit blur", scale=4, elem_classes="inline")
    other_b: str = text("", "The other B", placeholder="the same text", heard="submit blur", scale=4, elem_classes="inline")
    layout: ClassVar[Sequence[LayoutRow]] = (row("other_model", "other_a", "other_b"),)

    @property
    def is_asked(self) -> bool:
        """Whether anything is typed for the other side."""
        return any(box.strip() for box in (self.other_model, self.other_a, self.other_b))

    def other(self, subject: Subject) -> Subject:
        """The other side, with the same selection. Raises ModelError for a model that is not on this machine."""
        name = subject.read_by(self.other_model).model_name
        text_a = self.other_a if self.other_a.strip() else subject.text_a
        text_b = self.other_b if self.other_b.strip() else subject.text_b
        if example := self.example(subject):
            _, text_a, text_b = example
        return Subject(name, text_a, text_b, subject.chosen)

    def is_one_model(self, subject: Subject) -> bool:
        """Whether both sides use the same checkpoint."""
        return self.other(subject).model.checkpoint == subject.model.checkpoint

    def example(self, subject: Subject) -> Swap | None:
        """The default other side: the input with its first usual swap. None if anything is typed, or there is no such swap."""
        return None if self.is_asked else next(iter(usual_swaps(subject)), None)

    def unless(self, subject: Subject) -> str:
        """Why there is nothing to compare with; '' if there is."""
        if self.is_asked or self.example(subject):
            return ""
        return "Name another model, or type another text: both are shown side by side, with the difference."


def paired_tokens(here: Encoding, there: Encoding) -> list[str] | None:
    """A name for each position, 'he / she' where the tokens differ; None when the inputs have different numbers of tokens."""
    if here.kept != there.kept:
        return None
    return [mine if mine == yours else f"{mine} / {yours}" for mine, yours in zip(here.tokens, there.tokens, strict=True)]
