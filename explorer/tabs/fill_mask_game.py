"""The pre-training game on the page's own text: what is hidden, what is guessed, what it costs."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr
import pandas as pd

from explorer.figures.masked_lm import span_lengths
from explorer.page.components import Notice, PlotlyChart, TokenRow
from explorer.page.components.bars import percent
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.parts import Part, check_line
from explorer.text import limits
from explorer.text.masking import KEPT, MASKED, RANDOM, UNTOUCHED
from explorer.text.spans import span_length_shares, spans_of

if TYPE_CHECKING:
    from explorer.techniques.masking_game import Round, Rules

STRATEGIES = {
    "Single pieces (BERT)": "pieces",
    "Whole words": "words",
    "Spans (SpanBERT)": "spans",
}
TREATMENTS = {MASKED: "masked", RANDOM: "replaced", KEPT: "kept"}
COLUMNS = ["Position", "Piece", "Treatment", "BERT reads", "First guess", "Right?", "p of the piece", "Loss (nats)"]
STRANGERS = ("Saturn is the second largest planet.", "Most frogs lay their eggs in water.")
RULES = {
    "pieces": "Single pieces are chosen, each by itself (Devlin et al. 2019, section 3.1).",
    "words": "All pieces of a word are chosen together, so that no piece gives its neighbour away.",
    "spans": "Runs of whole words are chosen and treated alike (SpanBERT, Joshi et al. 2020, section 3.1).",
}
NO_B, FOLLOWS, STRANGER = "no B", "B follows A", "a stranger instead of B"


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False) as column:
        with gr.Row(elem_classes="controls"):
            strategy = gr.Radio(
                list(STRATEGIES), value=next(iter(STRATEGIES)), label="What is chosen", elem_id="strategy"
            )
            seed = gr.Number(0, precision=0, minimum=0, label="Seed", elem_id="game-seed", min_width=90)
            again = gr.Button("Hide again", size="sm", elem_id="hide-again")
        with gr.Accordion("More", open=False):
            rate = gr.Slider(0.05, 0.9, value=0.15, step=0.05, label="Share of the pieces that are chosen")
            masked = gr.Slider(0, 1, value=0.8, step=0.05, label="Share of these that become [MASK]")
            replaced = gr.Slider(0, 1, value=0.1, step=0.05, label="Share that become another piece; the rest is kept")
            swap = gr.Checkbox(True, label="B may be swapped for a stranger (half of the time)")
        row = TokenRow(elem_id="game-row")
        said = gr.Markdown(elem_classes="caption")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=8, min_width=320):
                table = gr.Dataframe(
                    headers=COLUMNS, datatype="str", interactive=False, show_label=False, elem_id="game-table"
                )
                loss = Notice(elem_id="game-loss", keep_height=True)
                check = Notice(elem_classes="check")
            with gr.Column(scale=4, min_width=280, visible=False) as lengths_column:
                lengths = PlotlyChart(height=260, label="Lengths of spans", elem_id="span-lengths")
        gr.Markdown(
            "Only the chosen pieces cost anything. Some are not masked, since [MASK] never occurs in real text: a model "
            "that saw only masks would learn nothing about words in sight. The masked-LM loss is the mean of −ln p over "
            "the chosen pieces, the next-sentence loss −ln p of the truth about B; training makes their sum smaller.",
            elem_classes="caption",
        )

    def show(view: View, strategy: str, seed: int, rate: float, masked: float, replaced: float, swap: bool) -> Updates:
        from explorer.techniques.masking_game import Rules, loss_error, play

        rules = Rules(STRATEGIES.get(strategy, strategy), rate, masked, replaced, seed or 0)
        text_b, label, truth = _second(view, rules.check(), swap)
        played = play(view.model, view.text_a, text_b, rules, label)
        spans = rules.strategy == "spans"
        updates = {
            row: _chips(played),
            said: f"{len(played.positions)} of {_eligible(played)} pieces chosen. {RULES[rules.strategy]}",
            table: _table(played),
            loss: _loss(played, truth),
            check: check_line(loss_error(view.model, played), "the sum is the loss that transformers computes itself"),
            lengths_column: gr.Column(visible=spans),
        }
        return {**updates, lengths: span_lengths(span_length_shares(), _lengths(played))} if spans else updates

    def hide_again(view: View, strategy: str, seed: int, *rest: float) -> Updates:
        seed = limits.check_integer(seed or 0, "the seed", 0, 2**31 - 2) + 1
        return {seed_box: seed, **show(view, strategy, seed, *rest)}

    seed_box = seed
    controls = [strategy, seed, rate, masked, replaced, swap]
    outputs = [row, said, table, loss, check, lengths_column, lengths]
    changes = [strategy.input, seed.input, rate.release, masked.release, replaced.release, swap.input]
    page.on(changes, show, outputs, controls)
    page.on([again.click], hide_again, [seed, *outputs], controls)
    return Part("Pre-training game", column, show, outputs, controls)


def _second(view: View, rules: "Rules", swap: bool) -> tuple[str, int | None, str]:
    """Text B as it is played, 0 if it follows A and 1 if not, and that in words. The seed decides."""
    if not view.text_b.strip():
        return "", None, NO_B
    if swap and rules.seed % 2:
        return STRANGERS[rules.seed // 2 % len(STRANGERS)], 1, STRANGER
    return view.text_b, 0, FOLLOWS


def _chips(played: "Round") -> dict:
    """The input as the model reads it; every chosen piece that is not masked looks like any other, to BERT too."""
    encoding = played.encoding
    tokens = list(encoding.tokens)
    for position, stand_in in zip(played.positions, played.stand_ins, strict=True):
        tokens[position] = stand_in
    kinds = replace(encoding, tokens=tuple(tokens)).kinds
    return TokenRow.pack(tokens, kinds=kinds, segments=encoding.segments)


def _eligible(played: "Round") -> int:
    return sum(kind not in ("special", "mask") for kind in played.encoding.kinds)


def _lengths(played: "Round") -> list[int]:
    """Words in each run of chosen pieces."""
    chosen, words = played.masked.treatment[0] != UNTOUCHED, played.encoding.words
    return [len(set(words[start:end])) for start, end in spans_of(chosen)]


def _table(played: "Round") -> pd.DataFrame:
    rows = []
    for place, position in enumerate(played.positions):
        best, truth = played.guesses[place].candidates[0], played.encoding.tokens[position]
        hit = "yes" if best.id == played.encoding.ids[position] else "no"
        probability = math.exp(-float(played.losses[place]))
        treatment = TREATMENTS[int(played.masked.treatment[0, position])]
        guess = f"{best.token} ({percent(best.probability)})"
        cost = f"{played.losses[place]:.3f}"
        rows.append([str(position), truth, treatment, played.stand_ins[place], guess, hit, percent(probability), cost])
    return pd.DataFrame(rows, columns=COLUMNS)


def _loss(played: "Round", truth: str) -> str:
    first = f"Masked-LM loss {played.mlm_loss:.3f}, the mean of {len(played.positions)}"
    if played.next_loss is None:
        return f"{first}; no next-sentence loss ({NO_B if truth == NO_B else 'the model has no such head'})."
    return (
        f"{first}, + next-sentence loss {played.next_loss:.3f} ({truth}; BERT says IsNext {percent(played.is_next)}) = "
        f"{played.loss:.3f} nats."
    )
