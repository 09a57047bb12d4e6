"""The guesses for every blank, two words weighed against each other, and several blanks filled together."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import gradio as gr

from explorer.page.components import Bars, Notice, WordGrid
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.parts import Part, asked_blank, no_blank, quick
from explorer.text import limits

if TYPE_CHECKING:
    from explorer.model.network import MaskGuesses
    from explorer.techniques.filling import Filling

MOST_SHOWN = 12
MOST_TOGETHER = 16
MOST_WORDS = 6
ORDERS = {"left_to_right": "left to right", "best_first": "surest first"}


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=True) as column:
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=6, min_width=320):
                top_k = gr.Slider(1, 20, value=5, step=1, label="Guesses for each blank", elem_id="top-k")
                guesses = Bars(elem_id="guesses")
                hint = Notice()
                gr.Markdown(
                    "The probability of a piece among all pieces of the vocabulary (softmax, 0 to 100 %), and the logit "
                    "that went in.",
                    elem_classes="caption",
                )
            with gr.Column(scale=5, min_width=320):
                words = gr.Textbox(
                    "",
                    label="Weigh words against each other (he, she)",
                    placeholder="the two best guesses",
                    elem_id="compare-words",
                )
                compared = Bars(elem_id="compared")
                ratio = Notice(elem_id="ratio", keep_height=True)
        with gr.Column(visible=False) as together:
            gr.Markdown("**Several blanks, filled together**", elem_classes="detail-title")
            filled = WordGrid(elem_id="filled")
            gr.Markdown(
                "By itself, each blank is guessed while the others stay blank, so that neighbours need not fit. Filled "
                "together, each guess is put in before the next is made, and seen by it; ln p sums the logarithms of the "
                "probabilities of these steps, so it is the probability of the whole only for a chain. Both orders are "
                "greedy: another filling may be likelier.",
                elem_classes="caption",
            )

    def compare(view: View, words: str) -> Updates:
        """The words, at the chosen or the first blank."""
        from explorer.techniques.targets import piece_of, read_at, word_target

        position = asked_blank(view)
        vector = view.trace.states[-1][[position]]
        if named := _words(words):
            pieces = [piece_of(view.model, word) for word in named]
        else:
            best = view.model.guesses(vector, [position], 2)[0].candidates
            pieces = [(candidate.id, candidate.token) for candidate in best]
        shares = [
            float(read_at(view.model, word_target(view.trace, token, position), vector).probability)
            for _, token in pieces
        ]
        rows = [(token, share, "") for (_, token), share in zip(pieces, shares, strict=True)]
        return {compared: Bars.pack(rows), ratio: _ratio([token for _, token in pieces], shares, position)}

    def show(view: View, top_k: int, words: str) -> Updates:
        top_k = limits.check_integer(top_k, "the number of guesses", 1, 20)
        blanks = view.model.fill_mask(view.text_a, view.text_b, top_k)
        updates = {guesses: Bars.pack_groups([_group(guess) for guess in blanks[:MOST_SHOWN]])}
        more = f"The first {MOST_SHOWN} of {len(blanks)} blanks are shown." if len(blanks) > MOST_SHOWN else ""
        several = 1 < len(blanks) <= MOST_TOGETHER and quick(view, 2 * len(blanks))
        updates |= {hint: more, together: gr.Column(visible=several), **compare(view, words)}
        return {**updates, filled: _filled(view, blanks)} if several else updates

    outputs = [guesses, hint, compared, ratio, together, filled]
    page.on([top_k.input], show, outputs, [top_k, words])
    page.on([words.change], compare, [compared, ratio], [words], **typed_in(words))
    return Part("Guesses", column, show, outputs, [top_k, words], no_blank)


def _words(typed: str) -> list[str]:
    """What is named in 'is, are' or 'is / are'; at most MOST_WORDS."""
    typed = limits.check_optional_text(typed, "the words")
    return [word.strip() for word in typed.replace("/", ",").split(",") if word.strip()][:MOST_WORDS]


def _group(guess: "MaskGuesses") -> tuple[str, list[tuple[str, float, str]]]:
    rows = [
        (candidate.token, candidate.probability, f"rank {rank} · logit {candidate.logit:.2f}")
        for rank, candidate in enumerate(guess.candidates, start=1)
    ]
    return f"[MASK] at position {guess.position}", rows


def _ratio(words: Sequence[str], shares: Sequence[float], position: int) -> str:
    if len(words) < 2:
        return f"At position {position}. Name a second word for a ratio."
    (first, high), (second, low) = sorted(zip(words, shares, strict=True), key=lambda pair: -pair[1])[:2]
    if low <= 0:
        return f"At position {position}, the model gives {second} no chance at all."
    times, odds = high / low, math.log(high / low)
    return f"At position {position}, {first} is {times:,.2f} times as likely as {second} (log ratio {odds:.2f} nats)."


def _filled(view: View, blanks: "Sequence[MaskGuesses]") -> dict:
    """The blanks by themselves and together, one row a way of filling."""
    from explorer.techniques.filling import ORDERS as KNOWN
    from explorer.techniques.filling import fill_jointly, log_probability

    alone = [guess.candidates[0] for guess in blanks]
    rows = ["each by itself"]
    cells = [[(guess.token, guess.probability, f"{guess.probability:.1%}") for guess in alone]]
    for order in KNOWN:
        steps = fill_jointly(view.trace, order)
        rows.append(f"{ORDERS[order]}, ln p = {log_probability(steps):.2f}")
        cells.append(_in_place(steps))
    columns = [f"position {guess.position}" for guess in blanks]
    return WordGrid.pack("", columns, rows, cells)


def _in_place(steps: "Sequence[Filling]") -> list[tuple[str, float, str]]:
    """The steps in order of position, each told which step it was."""
    numbered = sorted(enumerate(steps, start=1), key=lambda pair: pair[1].position)
    return [
        (step.candidate.token, step.candidate.probability, f"step {number}: {step.candidate.probability:.1%}")
        for number, step in numbered
    ]
