"""An LSTM of one cell, with weights set by hand, that remembers whether the subject is singular or plural."""

import math
from dataclasses import dataclass

SHARP = 6.0  # gates stand at the sigmoid of 6 or -6, nearly 1 or 0
SIZE = 3.0  # the value is the tanh of 3 or -3


@dataclass(frozen=True)
class Word:
    """What is known of a word: is it the subject, or the verb of a subject; and its number, 1 plural, -1 singular, 0 none."""

    text: str
    subject: bool = False
    verb: bool = False
    number: int = 0


@dataclass(frozen=True)
class Moment:
    """The cell at one word. Gates are from 0 to 1, all else from -1 to 1."""

    word: Word
    before: float  # the state that the word finds
    forget: float
    admit: float  # the input gate
    value: float
    state: float
    show: float  # the output gate
    output: float


WORDS = (
    Word("dog", subject=True, number=-1),
    Word("barks", verb=True),
    Word("keys", subject=True, number=1),
    Word("the"),
    Word("man", number=-1),
    Word("left"),
    Word("are", verb=True),
)
"""From 'The dog barks, and the keys the man left are gone'."""


def reading(words: tuple[Word, ...] = WORDS) -> list[Moment]:
    """The cell at each word, from an empty state (Hochreiter & Schmidhuber 1997; the forget gate: Gers et al. 2000).

    The previous output has no weight here. In an LSTM that is trained it has, as every part of the input.
    """
    moments, state = [], 0.0
    for word in words:
        forget = _sigmoid(SHARP - 2 * SHARP * word.subject)
        admit = _sigmoid(-SHARP + 2 * SHARP * word.subject)
        show = _sigmoid(-SHARP + 2 * SHARP * word.verb)
        value = math.tanh(SIZE * word.number)
        before, state = state, forget * state + admit * value
        moments.append(Moment(word, before, forget, admit, value, state, show, show * math.tanh(state)))
    return moments


def _sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-number))
