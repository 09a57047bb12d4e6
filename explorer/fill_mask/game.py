"""The pre-training game on the page's text: masked pieces, guesses, and the loss."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.fill_mask.compute import KEPT, MASKED, PIECES, RANDOM, WORDS, Round, Rules, loss_error, play
from explorer.fill_mask.pictures import loss_curve
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import percent, whole_percent
from explorer.ui.pictures.numbers import Table, keep
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.settings import choice, number, switch
from explorer.ui.subject import Subject
from explorer.ui.telling import quote, two_places
from explorer.ui.view import Change, Content, Finding, View, button, caption, matches, part, prose, select, sentence, settle

STRATEGIES = (("Single pieces (BERT)", PIECES), ("Whole words", WORDS))
TREATMENTS = {MASKED: "masked", RANDOM: "replaced", KEPT: "kept"}
COLUMNS = [
    Column("Piece", "name"),
    *(Column(title, "text") for title in ("Treatment", "BERT reads", "First guess")),
    *(Column(title, "number") for title in ("p of the piece", "Loss (nats)")),
]
NUMBERS = ("position", "piece", "treatment", "read_as", "guess", "guess_probability", "probability", "loss")
STRANGERS = ("Saturn is the second largest planet.", "Most frogs lay their eggs in water.")
RULES = {
    PIECES: "Single pieces are chosen, each separately (Devlin et al. 2019, section 3.1).",
    WORDS: "All pieces of a word are chosen together, so that no piece gives its neighbour away.",
}
NO_B, FOLLOWS, STRANGER = "no B", "B follows A", "a random sentence instead of B"
MOST_SEED = 2**31 - 1
NO_BREAK = "\u00a0"
SHARE = {"step": 0.05, "more": True, "line": True, "heard": "release"}

_rounds: OnceCache[Hashable, Round] = OnceCache(16)  # a round is drawn, and told in a finding


class Game(View):
    """One round of BERT's pre-training task."""

    name, question = "fill-mask/game", "How is BERT trained?"
    layout = (row(col("table", "loss", "check", "strategy", "seed", "again", "rule", width=8), col("curve", width=4)),)
    row = part("tokens", passive=True)
    table = part("strips", classes="compact", height=480, answer=True)
    loss = sentence(keep_height=True, answer=True)
    check = part("check")
    curve = part("chart", label="What each chosen piece costs", height=320, answer=True)
    strategy: str = choice(STRATEGIES, "What is chosen")
    seed: int = number(0, "Seed", low=0, high=MOST_SEED, box=True, minimum=0, min_width=90)
    again = button("Hide again")
    rule = prose(classes="caption")
    help = caption(
        "Only the chosen pieces cost anything. Some are not masked, since [MASK] never occurs in the texts that BERT is used on. "
        "With masks only, fine-tuning worked as well, but frozen vectors recognized names less well (Devlin et al. 2019, "
        "appendix C.2). The masked-LM loss is the mean of −ln p over the chosen pieces, the next-sentence loss −ln p of the "
        "truth about B; training makes their sum smaller."
    )
    rate: float = number(0.15, "Share of pieces chosen", low=0.05, high=0.9, **SHARE)
    mask_share: float = number(0.8, "Of these, replaced by [MASK]", low=0.0, high=1.0, **SHARE)
    other_share: float = number(0.1, "Of these, replaced at random", low=0.0, high=1.0, **SHARE)
    swap: bool = switch(True, "Random B half the time", more=True)

    def compute(self, subject: Subject) -> Content:
        played, truth = self._play(subject)
        eligible = len(subject.model.visible_positions(played.encoding))
        guesses = [guess.candidates[0].token for guess in played.guesses]
        own = ", beside the input's own [MASK]" if subject.trace.mask_positions else ""
        return {
            "row": _row(played),
            "rule": f"{len(played.positions)} of {eligible} pieces chosen{own}. {RULES[self.strategy]}",
            "table": _table(played, subject.trace.tokens),
            "loss": _loss(played, truth),
            "curve": loss_curve(played.pieces, played.positions, played.losses, guesses),
            "check": matches(loss_error(subject.model, played), "the sum is the loss that transformers computes itself"),
        }

    def finding(self, subject: Subject) -> Finding | None:
        try:
            played, _ = self._play(subject)
        except InputError:  # there is nothing to choose from
            return None
        place, number = int(played.losses.argmax()), len(played.positions)
        firsts, loss = [guess.candidates[0].token for guess in played.guesses], float(played.losses[place])
        truth, best, right = played.pieces[place], firsts[place], sum(map(str.__eq__, firsts, played.pieces))
        costs = f"costs most (probability {whole_percent(math.exp(-loss))}, a loss of {two_places(loss)} nats)"
        costs = f"{quote(played.encoding.tokens, played.positions[place])} {costs}"
        costs += "" if best == truth else f"; the first guess is “{best}”"
        return Finding(f"BERT's first guess is right for {right} of {number} chosen pieces. {costs}.")

    def on_again(self, subject: Subject, index: None) -> Change:
        return settle(seed=(self.seed + 1) % (MOST_SEED + 1))

    def on_table(self, subject: Subject, index: int) -> Change:
        """Select the token (zero-based) of a chosen piece."""
        return select(token=limits.check_place(index))

    def _play(self, subject: Subject) -> tuple[Round, str]:
        """The round, and the truth about B in words. Raises InputError."""
        rules = Rules(self.strategy, self.rate, self.mask_share, self.other_share, self.seed)
        text_b, label, truth = self._second(subject)
        key = subject.model.checkpoint, subject.text_a, text_b, rules, label
        return _rounds.get(key, lambda: play(subject.model, subject.text_a, text_b, rules, label)), truth

    def _second(self, subject: Subject) -> tuple[str, int | None, str]:
        """Text B for the round, its label (0 if it follows A, else 1), and the label in words. The seed decides."""
        if not subject.text_b.strip():
            return "", None, NO_B
        if self.swap and self.seed % 2:
            return STRANGERS[self.seed // 2 % len(STRANGERS)], 1, STRANGER
        return subject.text_b, 0, FOLLOWS


def _row(played: Round) -> dict[str, Any]:
    """The input as the model reads it; chosen pieces that are not masked look like any others, as they do to BERT.

    The piece with the largest loss is selected.
    """
    tokens = list(played.encoding.tokens)
    for position, piece in zip(played.positions, played.stand_ins, strict=True):
        tokens[position] = piece
    encoding = replace(played.encoding, tokens=tuple(tokens))
    return token_row_of(encoding, played.positions[int(played.losses.argmax())], tokens=tokens)


def _table(played: Round, tokens: Sequence[str]) -> dict[str, Any]:
    """What was done to each chosen piece, what BERT guesses there, and what that costs.

    `tokens` are those of the page, where a random sentence instead of B does not stand: its pieces cannot be selected.
    """
    rows, numbers = [], []
    for place, position in enumerate(played.positions):
        best, truth, read = played.guesses[place].candidates[0], played.encoding.tokens[position], played.stand_ins[place]
        loss = float(played.losses[place])
        probability = math.exp(-loss)
        treatment = TREATMENTS[int(played.masked.treatment[position])]
        guess = f"{best.token} ({percent(best.probability).replace(' ', NO_BREAK)})"
        here = position if tuple(tokens[position : position + 1]) == (truth,) else None
        rows.append(Row([truth, treatment, read, guess, percent(probability), f"{loss:.3f}"], token=here))
        numbers.append([int(position), truth, treatment, read, best.token, best.probability, probability, loss])
    return keep(strip_table(COLUMNS, rows, "the chosen pieces"), lambda: Table.of(NUMBERS, numbers))


def _loss(played: Round, truth: str) -> str:
    first = f"Masked-LM loss {played.mlm_loss:.3f}, the mean of {len(played.positions)}"
    if played.next_loss is None or played.is_next is None:
        return f"{first}; no next-sentence loss ({NO_B if truth == NO_B else 'the model has no such head'})."
    return (
        f"{first}, + next-sentence loss {played.next_loss:.3f} ({truth}; BERT says IsNext {percent(played.is_next)}) = "
        f"{played.loss:.3f} nats."
    )
