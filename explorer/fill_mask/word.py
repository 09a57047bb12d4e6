"""The word in the blank: its explanations, and how the views of this tab parse the words typed."""

from typing import Any

from explorer.bert.trace import Trace
from explorer.techniques.targets import Target, against_second_guess, piece_of, word_target
from explorer.ui.attribution import ABOUT as ABOUT_ATTRIBUTION
from explorer.ui.attribution import AttributionView
from explorer.ui.layout import row
from explorer.ui.settings import Choice, Text, use
from explorer.ui.subject import Subject
from explorer.ui.switch_heads import ABOUT, SwitchHeads
from explorer.ui.view import caption
from explorer.ui.what_if import WhatIf

WORD = Text(label="The word in question", look={"placeholder": "BERT's first guess", "max_lines": 1, "elem_classes": "inline"})

SECOND = "second guess"
FOIL = Choice(
    label="rather than",
    options=(("its strongest rival", SECOND), ("nothing", "")),
    menu=True,
    free=True,
    fresh=SECOND,
    look={"elem_classes": "inline", "min_width": 220},
)
"""The foil: SECOND is the most probable other piece, "" none. Older links have none, and show probabilities."""
ABOUT_FOIL = (
    " With *rather than*, the number is a difference of two logits: the word's minus the foil's. Whatever raises both equally "
    "cancels out. The strongest rival is the model's second guess, the most probable piece besides the word. Type any other "
    "word as the foil, or choose *nothing* for the word's probability alone."
)


def no_blank(subject: Subject) -> str:
    """Why there is nothing to say about a blank; '' if there is one."""
    return "" if subject.trace.mask_positions else "No blank yet: click a word above."


def which_blank(subject: Subject) -> str:
    """The beginning of a sentence about one of several blanks, 'Blank 1 of 2 (position 4): '; '' for a single one."""
    masks, blank = subject.trace.mask_positions, subject.blank
    return f"Blank {masks.index(blank) + 1} of {len(masks)} (position {blank}): " if len(masks) > 1 else ""


def against(trace: Trace, target: Target, foil: str | None) -> Target:
    """The target with the foil that a view's setting names. Raises InputError if it is not one piece, or is the target."""
    if foil == SECOND:
        return against_second_guess(trace, target)
    return target.against(*piece_of(trace.model, foil, "the foil")) if foil and foil.strip() else target


def _word_in_blank(view: Any, subject: Subject) -> Target:
    """The word at the blank, rather than its foil; a word of '' is the model's first guess there.

    Raises InputError if one of them is not one piece.
    """
    return against(subject.trace, word_target(subject.trace, view.word, subject.blank), view.foil)


class WordAttribution(AttributionView):
    """A score for each token, for a word in the blank."""

    name = "fill-mask/attribution"
    layout = (row("word", "foil"),)
    word: str = use(WORD, "")
    foil: str = use(FOIL, "")
    help = caption(ABOUT_ATTRIBUTION + ABOUT_FOIL)
    unless = staticmethod(no_blank)
    target = _word_in_blank


class WordHeads(SwitchHeads):
    """A switch for each head, with its effect on a word in the blank."""

    name = "fill-mask/heads"
    word: str = use(WORD, "")
    foil: str = use(FOIL, "")
    help = caption(f"{ABOUT.format(what='the word')} With *rather than*, an effect is that on the word's logit minus the foil's.")
    unless = staticmethod(no_blank)
    target = _word_in_blank


class WordWhatIf(WhatIf):
    """The guesses for the blank before and after a change."""

    name = "fill-mask/what-if"
    unless = staticmethod(no_blank)


def read_pieces(subject: Subject, typed: str, position: int, most: int) -> list[tuple[int, str]]:
    """The id and name of each piece in 'is, are' or 'is / are', at most `most`; if none is given, the two best guesses.

    Raises InputError for a word that is not one piece of the vocabulary.
    """
    words = [word for part in typed.replace("/", ",").split(",") if (word := part.strip())]
    if words:
        return [piece_of(subject.model, word) for word in words[:most]]
    (guess,) = subject.model.guesses(subject.trace.states[-1][[position]], [position], 2)
    return [(candidate.id, candidate.token) for candidate in guess.candidates]
