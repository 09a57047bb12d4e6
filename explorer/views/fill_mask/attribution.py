"""Which tokens a word in a blank rests on."""

from typing import TYPE_CHECKING

from explorer.views.attribution import AttributionView
from explorer.views.fill_mask.word import WORD, no_blank, word_in_blank
from explorer.views.settings import use
from explorer.views.subject import Subject

if TYPE_CHECKING:
    from explorer.techniques.targets import Target


class WordAttribution(AttributionView):
    """A score for each token, for a word in the blank."""

    name = "fill-mask/attribution"
    word: str = use(WORD, "")

    def unless(self, subject: Subject) -> str:
        """Only a blank can be asked about."""
        return no_blank(subject)

    def target(self, subject: Subject) -> "Target":
        """The word in the blank."""
        return word_in_blank(subject, self.word)
