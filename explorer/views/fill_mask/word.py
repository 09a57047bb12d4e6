"""The word in the blank: its explanations, and how the views of this tab parse the words typed."""

from typing import Any

from explorer.techniques.targets import Target, piece_of, word_target
from explorer.views.attribution import AttributionView
from explorer.views.settings import Text, use
from explorer.views.subject import Subject
from explorer.views.switch_heads import ABOUT, SwitchHeads
from explorer.views.view import caption
from explorer.views.what_if import WhatIf

WORD = Text(label="The word in question", look={"placeholder": "BERT's first guess", "max_lines": 1, "elem_classes": "inline"})


def no_blank(subject: Subject) -> str:
    """Why there is nothing to say about a blank; '' if there is one."""
    return "" if subject.trace.mask_positions else "No blank yet: click a word above."


def which_blank(subject: Subject) -> str:
    """The beginning of a sentence about one of several blanks, 'Blank 1 of 2 (position 4): '; '' for a single one."""
    masks, blank = subject.trace.mask_positions, subject.blank
    return f"Blank {masks.index(blank) + 1} of {len(masks)} (position {blank}): " if len(masks) > 1 else ""


def _word_in_blank(view: Any, subject: Subject) -> Target:
    """The word at the blank; '' is the model's first guess there. Raises InputError if it is not one piece."""
    return word_target(subject.trace, view.word, subject.blank)


class WordAttribution(AttributionView):
    """A score for each token, for a word in the blank."""

    name = "fill-mask/attribution"
    word: str = use(WORD, "")
    unless = staticmethod(no_blank)
    target = _word_in_blank


class WordHeads(SwitchHeads):
    """A switch for each head, with its effect on a word in the blank."""

    name = "fill-mask/heads"
    word: str = use(WORD, "")
    help = caption(ABOUT.format(what="the word"))
    unless = staticmethod(no_blank)
    target = _word_in_blank


class WordWhatIf(WhatIf):
    """The guesses for the blank before and after a change."""

    name = "fill-mask/what-if"
    unless = staticmethod(no_blank)


def pieces_named(subject: Subject, typed: str, position: int, most: int) -> list[tuple[int, str]]:
    """The id and name of each piece in 'is, are' or 'is / are', at most `most`; if none is given, the two best guesses.

    Raises InputError for a word that is not one piece of the vocabulary.
    """
    words = [word for part in typed.replace("/", ",").split(",") if (word := part.strip())]
    if words:
        return [piece_of(subject.model, word) for word in words[:most]]
    (guess,) = subject.model.guesses(subject.trace.states[-1][[position]], [position], 2)
    return [(candidate.id, candidate.token) for candidate in guess.candidates]
