"""The guesses for every blank, comparisons of words, and several blanks filled together."""

import math
from collections.abc import Sequence
from typing import Any

from explorer.bert.checkpoints import BUNDLED
from explorer.bert.network import MaskGuesses
from explorer.fill_mask.word import no_blank, read_pieces, which_blank
from explorer.techniques.filling import Filling, fill_jointly
from explorer.techniques.targets import Target, read_at
from explorer.ui.long_view import is_quick
from explorer.ui.pictures.bars import Row, bar_groups, bars, percent, whole_percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.pictures.word_grid import Cell, word_grid
from explorer.ui.settings import number, text
from explorer.ui.subject import Subject
from explorer.ui.telling import times
from explorer.ui.view import Content, Finding, View, Why, caption, part, prose, sentence

MOST_SHOWN = 12
MOST_TOGETHER = 16
MOST_WORDS = 6
NO_END = "Add a full stop after the blank; otherwise BERT may predict punctuation there."
SMALL = (
    "This is a small teaching model: of 500 hidden content words in sentences that it never saw, its first guess is right "
    "for 34.4%. Its model card lists what it gets wrong; larger models do better."
)
HIDE = "**Click a word to hide it**, or type `[MASK]` above. A wavy line marks the words that BERT expects least."
SURETY = ((0.9, "Confident"), (0.5, "Fairly confident"), (0.2, "Unsure"), (0.0, "Guessing"))  # from a share on
ORDERS = {"left_to_right": "left to right", "best_first": "most confident first"}


class WordsToHide(View):
    """The input while it has no blank: a click masks a word."""

    name, question = "fill-mask/words", "Which word will you hide?"
    help = prose(optional=True)
    row = part("tokens", mask_on_click=True, optional=True)

    def compute(self, subject: Subject) -> Content:
        if subject.trace.mask_positions:  # the page's own row of tokens is enough
            return {}
        return {"help": HIDE, "row": token_row_of(subject.trace.encoding, subject.selection.token)}


class Guesses(View):
    """The best guesses for every blank, each independently."""

    name, question = "fill-mask/guesses", "What would BERT put in each blank?"
    width = 6
    unless = staticmethod(no_blank)
    guesses = part("bars", answer=True)
    cut = sentence()
    hint = sentence(optional=True)
    small = sentence(classes="caption", optional=True)
    help = caption(
        "The probability of a piece among all pieces of the vocabulary (softmax, 0 to 100%), and the logit that went in."
    )
    top_k: int = number(5, "Guesses for each blank", low=1, high=20)

    def compute(self, subject: Subject) -> Content:
        blanks = _guesses(subject, self.top_k)
        cut = f"The first {MOST_SHOWN} of {len(blanks)} blanks are shown." if len(blanks) > MOST_SHOWN else ""
        drawn = bar_groups([_group(guess) for guess in blanks[:MOST_SHOWN]])
        shown = {"guesses": keep(drawn, lambda: _numbers(blanks[:MOST_SHOWN])), "cut": cut}
        shown |= {"hint": NO_END} if _ends_in_a_blank(subject) else {}
        return shown | ({"small": SMALL} if subject.model.name == BUNDLED else {})

    def finding(self, subject: Subject) -> Finding:
        """The first two guesses for the blank, and how confident the first is."""
        (guess,) = subject.model.guesses(subject.trace.states[-1][[subject.blank]], [subject.blank], 2)
        (first, *rest), where = guess.candidates, Why("fill-mask", "Lens", {"token": subject.blank})
        then = f", then “{rest[0].token}” with {whole_percent(rest[0].probability)}" if rest else ""
        sure = next(words for least, words in SURETY if first.probability >= least)
        text = f"{which_blank(subject)}{sure}: “{first.token}” with {whole_percent(first.probability)}{then}."
        return Finding(text, where)


class Comparison(View):
    """Words compared in the selected or the first blank."""

    name, question = "fill-mask/comparison", "How much more likely is one word than another?"
    width = 5
    unless = staticmethod(no_blank)
    compared = part("bars", answer=True)
    words: str = text("", "Weigh words (he, she)", placeholder="the two best guesses", max_lines=1, elem_classes="inline")
    ratio = sentence(keep_height=True, answer=True)

    def compute(self, subject: Subject) -> Content:
        position = subject.blank
        vector, shares = subject.trace.states[-1][[position]], {}
        for id, token in read_pieces(subject, self.words, position, MOST_WORDS):
            target = Target("fill_mask", position, id, token)
            shares[token] = float(read_at(subject.model, target, vector).probability)
        return {"compared": bars([(token, share, "") for token, share in shares.items()]), "ratio": _ratio(shares, position)}


class FilledTogether(View):
    """Several blanks, filled independently and together."""

    name, question = "fill-mask/together", "What fits in all the blanks together?"
    unless = staticmethod(no_blank)
    title = prose(classes="detail-title", optional=True)
    filled = part("words", optional=True, answer=True)
    help = prose(classes="caption", optional=True)

    def compute(self, subject: Subject) -> Content:
        """A row per way of filling; nothing for a single blank, or for so many that it would take long."""
        blanks = len(subject.trace.mask_positions)
        if not (1 < blanks <= MOST_TOGETHER and is_quick(subject, 2 * blanks)):
            return {}
        return {
            "title": "**Several blanks, filled together**",
            "filled": _fill(subject),
            "help": "Separately: each blank is guessed while the others stay blank, so neighbours need not fit. Together: each "
            "guess is filled in before the next one is made. ln p sums the logarithms of the steps' probabilities. Both orders "
            "are greedy, so another filling may be more probable.",
        }


def _ends_in_a_blank(subject: Subject) -> bool:
    """Whether a text ends right after its last blank, without even a full stop."""
    sequences = subject.trace.encoding.sequences
    return any(sequences[mask] != (*sequences, -1)[mask + 1] for mask in subject.trace.mask_positions)


def _guesses(subject: Subject, top_k: int) -> list[MaskGuesses]:
    blanks = subject.trace.mask_positions
    return subject.model.guesses(subject.trace.states[-1][blanks], blanks, top_k)


def _group(guess: MaskGuesses) -> tuple[str, list[Row]]:
    rows = [
        (candidate.token, candidate.probability, f"rank {rank} · logit {candidate.logit:.2f}")
        for rank, candidate in enumerate(guess.candidates, start=1)
    ]
    return f"[MASK] at position {guess.position}", rows


def _numbers(blanks: Sequence[MaskGuesses]) -> Table:
    rows = [
        [guess.position, rank, one.token, one.id, one.probability, one.logit]
        for guess in blanks
        for rank, one in enumerate(guess.candidates, start=1)
    ]
    return Table.of(("position", "rank", "token", "id", "probability", "logit"), rows)


def _ratio(shares: dict[str, float], position: int) -> str:
    if len(shares) < 2:
        return f"At position {position}. Name a second word for a ratio."
    (first, high), (second, low) = sorted(shares.items(), key=lambda pair: -pair[1])[:2]
    if low <= 0:
        return f"At position {position}, the model gives {second} a probability of 0."
    odds = math.log(high / low)
    return f"At position {position}, {first} is {times(high / low)} as likely as {second} (log ratio {odds:.2f} nats)."


def _fill(subject: Subject) -> dict[str, Any]:
    """The blanks filled independently and together, a row per way of filling."""
    blanks = _guesses(subject, 1)
    alone = [guess.candidates[0] for guess in blanks]
    rows = {"each separately": [(guess.token, guess.probability, percent(guess.probability)) for guess in alone]}
    for order, called in ORDERS.items():
        steps = fill_jointly(subject.trace, order)
        total = sum(math.log(max(step.candidate.probability, 1e-45)) for step in steps)
        rows[f"{called}, ln p = {total:.2f}"] = _in_place(steps)
    return word_grid("", [f"position {guess.position}" for guess in blanks], list(rows), list(rows.values()))


def _in_place(steps: Sequence[Filling]) -> list[Cell]:
    """The steps in order of position, each with its number."""
    numbered = sorted(enumerate(steps, start=1), key=lambda pair: pair[1].position)
    return [
        (step.candidate.token, step.candidate.probability, f"step {number}: {percent(step.candidate.probability)}")
        for number, step in numbered
    ]
