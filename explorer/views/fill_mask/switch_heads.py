"""Which heads a word in a blank rests on."""

from typing import TYPE_CHECKING, Any

from explorer.figures.bars import Row
from explorer.views.fill_mask.word import WORD, no_blank, word_in_blank
from explorer.views.settings import use
from explorer.views.subject import Subject
from explorer.views.switch_heads import ABOUT, SwitchHeads
from explorer.views.view import caption

if TYPE_CHECKING:
    from explorer.techniques.targets import Target

GUESSES_SHOWN = 5


class WordHeads(SwitchHeads):
    """Heads as switches, and what they do to a word in the blank."""

    name = "fill-mask/heads"
    word: str = use(WORD, "")
    help = caption(ABOUT.format(what="the word"))

    def unless(self, subject: Subject) -> str:
        """Only a blank can be asked about."""
        return no_blank(subject)

    def target(self, subject: Subject) -> "Target":
        """The word in the blank."""
        return word_in_blank(subject, self.word)

    def rows(self, subject: Subject, target: "Target", states: Any) -> list[Row]:
        """The best guesses in the blank, and the word in question if it is not among them."""
        from explorer.techniques.targets import read

        (guess,) = subject.model.guesses(states[[target.position]], [target.position], GUESSES_SHOWN)
        rows = [(candidate.token, candidate.probability, "") for candidate in guess.candidates]
        if target.id not in [candidate.id for candidate in guess.candidates]:
            share = float(read(subject.model, target, states[None]).probability)
            rows.append((target.token, share, "the word in question"))
        return rows
