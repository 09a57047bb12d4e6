"""Swapping words with one click: the changed text becomes the other side."""

from explorer.side_by_side.other import SideView
from explorer.text import limits
from explorer.ui.subject import Subject
from explorer.ui.swapping import Swap, guessed_words, usual_swaps
from explorer.ui.view import Change, Content, part, settle

MOST = 12
BACK = "put it back"


class Swaps(SideView):
    """Words of the input with a usual counterpart, and the model's guesses in place of the selected word."""

    name, question = "side-by-side/swaps", "What if it said something else?"
    layout, names = (), ("swaps",)  # the text boxes are in other views
    swaps = part("chips", optional=True)

    def unless(self, subject: Subject) -> str:
        """Always shown, even before anything is compared."""
        return ""

    def compute(self, subject: Subject) -> Content:
        """The possible swaps."""
        labels = [label for label, _, _ in self._swaps(subject)]
        example = self.example(subject)
        label = f"Beside it, for example, {example[0]}; or swap" if example else "Swap a word"
        return {"swaps": {"chips": labels, "label": f"{label}:"}} if labels else {}

    def on_swaps(self, subject: Subject, index: object) -> Change:
        """Make the changed texts the other side."""
        found = self._swaps(subject)
        _, text_a, text_b = found[min(limits.check_place(index), len(found) - 1)]
        return settle(other_a=text_a, other_b=text_b)

    def _swaps(self, subject: Subject) -> list[Swap]:
        back = [(BACK, "", "")] if self.other_a or self.other_b else []
        once: dict[str, Swap] = {}
        for swap in [*back, *_guessed(subject), *usual_swaps(subject)]:
            once.setdefault(swap[0], swap)
        return list(once.values())[:MOST]


def _guessed(subject: Subject) -> list[Swap]:
    """Swaps of the selected word, if it is a single piece, with the model's three best guesses for its place."""
    word, others = guessed_words(subject)
    token = subject.selection.token
    if not others or token is None:
        return []
    side, (start, end) = subject.trace.encoding.sequences[token], subject.trace.encoding.offsets[token]
    texts = [subject.text_a, subject.text_b]
    found = []
    for other in others:
        changed = [*texts]
        changed[side] = texts[side][:start] + other + texts[side][end:]
        found.append((f"{word} → {other}", changed[0], changed[1]))
    return found
