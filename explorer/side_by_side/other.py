"""The other side: another model, another input, or both, typed or made by swapping words with one click."""

from collections.abc import Sequence
from typing import ClassVar

from explorer.text import limits
from explorer.text.encoding import Encoding
from explorer.ui.layout import LayoutRow, row
from explorer.ui.settings import text
from explorer.ui.subject import Subject
from explorer.ui.swapping import Swap, guessed_words, usual_swaps
from explorer.ui.view import Change, Content, View, part, settle

MOST_SWAPS = 12
BACK = "put it back"


class SideView(View):
    """The base of views that compare two sides; all share the settings of the other side."""

    other_model: str = text(
        "", "The other model", placeholder="the same one", heard="submit blur", scale=4, elem_classes="inline"
    )
    other_a: str = text("", "The other A", placeholder="the same text", heard="submit blur", scale=4, elem_classes="inline")
    other_b: str = text("", "The other B", placeholder="the same text", heard="submit blur", scale=4, elem_classes="inline")
    layout: ClassVar[Sequence[LayoutRow]] = (row("other_model", "other_a", "other_b"),)

    def other(self, subject: Subject) -> Subject:
        """The other side, with the same selection. Raises ModelError for a model that is not on this machine."""
        name = subject.read_by(self.other_model).model_name
        text_a = self.other_a if self.other_a.strip() else subject.text_a
        text_b = self.other_b if self.other_b.strip() else subject.text_b
        if example := self.example(subject):
            _, text_a, text_b = example
        return Subject(name, text_a, text_b, subject.chosen)

    def is_one_model(self, subject: Subject) -> bool:
        return self.other(subject).model.checkpoint == subject.model.checkpoint

    def example(self, subject: Subject) -> Swap | None:
        """The default other side: the input with its first usual swap. None if anything is typed, or there is no such swap."""
        return None if self._is_asked else next(iter(usual_swaps(subject)), None)

    @property
    def _is_asked(self) -> bool:
        return any(box.strip() for box in (self.other_model, self.other_a, self.other_b))

    def unless(self, subject: Subject) -> str:
        if self._is_asked or self.example(subject):
            return ""
        return "Name another model, or type another text: both are shown side by side, with the difference."


class Swaps(SideView):
    """Words of the input with a usual counterpart, and the model's guesses in place of the selected word."""

    name, question = "side-by-side/swaps", "Which other word would you try?"
    layout, names = (), ("swaps",)  # the text boxes are in other views
    swaps = part("chips", optional=True)

    def unless(self, subject: Subject) -> str:
        return ""  # shown even before anything is compared

    def compute(self, subject: Subject) -> Content:
        found, example = self._swaps(subject), self.example(subject)
        sides = example[1:] if example else (self.other_a, self.other_b)
        pressed = [(text_a, text_b) == sides for _, text_a, text_b in found]
        return {"swaps": {"chips": [label for label, *_ in found], "pressed": pressed, "label": "Swap:"}} if found else {}

    def on_swaps(self, subject: Subject, index: object) -> Change:
        found = self._swaps(subject)
        _, text_a, text_b = found[min(limits.check_place(index), len(found) - 1)]
        return settle(other_a=text_a, other_b=text_b)

    def _swaps(self, subject: Subject) -> list[Swap]:
        back = [(BACK, "", "")] if self.other_a or self.other_b else []
        once: dict[str, Swap] = {}
        for swap in [*back, *_guessed(subject), *usual_swaps(subject)]:
            once.setdefault(swap[0], swap)
        return list(once.values())[:MOST_SWAPS]


def _guessed(subject: Subject) -> list[Swap]:
    """Swaps of the selected word, if it is a single piece, with the model's three best guesses for its place."""
    word, others = guessed_words(subject)
    token = subject.selection.token
    if not others or token is None:
        return []
    a, b, (start, end) = subject.text_a, subject.text_b, subject.trace.encoding.offsets[token]
    if subject.trace.encoding.sequences[token] == 0:
        return [(f"{word} → {other}", a[:start] + other + a[end:], b) for other in others]
    return [(f"{word} → {other}", a, b[:start] + other + b[end:]) for other in others]


def paired_tokens(here: Encoding, there: Encoding) -> list[str] | None:
    """A name for each position, 'he / she' where the tokens differ; None when the inputs have different numbers of tokens."""
    if here.kept != there.kept:
        return None
    return [mine if mine == yours else f"{mine} / {yours}" for mine, yours in zip(here.tokens, there.tokens, strict=True)]
