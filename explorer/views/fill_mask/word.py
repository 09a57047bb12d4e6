"""The word in question: what several views of this tab ask about."""

from typing import TYPE_CHECKING

from explorer.views.settings import Text
from explorer.views.subject import Subject

if TYPE_CHECKING:
    from explorer.techniques.targets import Target

WORD = Text(label="The word in question", look={"placeholder": "BERT's first guess", "max_lines": 1})


def no_blank(subject: Subject) -> str:
    """Why nothing can be said of a blank, or ''."""
    return "" if subject.trace.mask_positions else "No blank yet: click a word to hide it."


def word_in_blank(subject: Subject, word: str) -> "Target":
    """The word at the blank in question; '' is the model's first guess there. Raises InputError if it is not one piece."""
    from explorer.techniques.targets import word_target

    return word_target(subject.trace, word, subject.blank)
