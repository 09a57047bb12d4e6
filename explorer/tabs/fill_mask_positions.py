"""What BERT would say in every place, and how probable it finds a whole sentence."""

from collections.abc import Generator
from typing import TYPE_CHECKING

import gradio as gr
import numpy as np
import pandas as pd

from explorer.base.errors import InputError
from explorer.figures.masked_lm import surprise_bars
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import TRAINING, Page, Updates, View
from explorer.tabs.parts import Part, Slow, slow_buttons

if TYPE_CHECKING:
    from explorer.techniques.pseudo_likelihood import Surprise

HIDDEN, SEEN = "hidden, one at a time", "in sight"
SENTENCES = "The keys to the cabinet are on the table.\nThe keys to the cabinet is on the table."
COLUMNS = ["Sentence", "Pieces", "ln p (sum)", "ln p a piece"]
MOST_LINES = 20


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False) as column:
        way = gr.Radio([HIDDEN, SEEN], value=HIDDEN, label="Each word is", elem_id="hide-or-see")
        start, stop, status = slow_buttons("Ask for every position")
        chart = PlotlyChart(height=340, label="Surprise by position", elem_id="surprise")
        said = Notice(elem_classes="caption", keep_height=True)
        gr.Markdown(
            "Surprise is −log₂ of the probability of the word that stands there: 0 bits, no surprise; 1 bit, a coin toss. "
            "Above each bar, BERT's first guess: blue where it is the word itself, orange where not. A word in sight is "
            "nearly given away; hidden, it has to be guessed from the others.",
            elem_classes="caption",
        )
        gr.Markdown("**Which sentence does BERT find likelier?**", elem_classes="detail-title")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=300):
                lines = gr.Textbox(SENTENCES, lines=3, max_lines=8, label="One sentence a line", elem_id="scored-lines")
                with gr.Row(elem_classes="controls"):
                    score = gr.Button("Score the sentences", size="sm", elem_id="score-sentences")
            with gr.Column(scale=6, min_width=320):
                table = gr.Dataframe(
                    headers=COLUMNS,
                    datatype=["str", "number", "number", "number"],
                    column_widths=["52%", "13%", "17%", "18%"],
                    interactive=False,
                    wrap=True,
                    show_label=False,
                    elem_id="likelihoods",
                )
        gr.Markdown(
            "The pseudo-log-likelihood (Salazar et al. 2020): each piece hidden in turn, the natural logarithms of the "
            "probabilities of the pieces summed; nearer to 0 is likelier. Compare sentences of equal length, or by piece.",
            elem_classes="caption",
        )

    def steps(view: View, way: str) -> "Generator[float, None, Surprise]":
        from explorer.techniques.pseudo_likelihood import hidden_surprise_in_steps, seen_surprise

        if way == HIDDEN:
            return (yield from hidden_surprise_in_steps(view.model, view.trace.encoding))
        return seen_surprise(view.trace)

    def draw(view: View, found: "Surprise", way: str) -> Updates:
        if not found.positions:
            raise InputError("There is no visible word to ask for; type one beside the [MASK]s.")
        tokens = [view.trace.tokens[position] for position in found.positions]
        best = view.model.pieces(found.best_ids.tolist())
        hits, bits = int((found.ranks == 1).sum()), found.bits
        worst = int(np.argmax(bits))
        told = (
            f"First guess right at {hits} of {len(tokens)} places; {bits.mean():.2f} bits a piece on average; most "
            f"surprising: {tokens[worst]} at position {found.positions[worst]} ({bits[worst]:.1f} bits, rank "
            f"{found.ranks[worst]:,})."
        )
        return {chart: surprise_bars(tokens, bits, best, found.best_probabilities, found.ranks), said: told}

    slow = Slow(
        "surprise",
        start,
        stop,
        status,
        lambda view: view.trace.kept,
        steps,
        draw,
        lambda: {chart: None, said: ""},
    )

    def show_chart(view: View, way: str) -> Updates:
        if way == SEEN:
            from explorer.base.steps import finished

            return {**slow.idle(), **draw(view, finished(steps(view, way)), way)}
        return slow.show(view, way)

    def show(view: View, way: str, lines: str, scored: pd.DataFrame | None) -> Updates:
        updates = show_chart(view, way)
        if scored is None or scored.empty or not scored.iloc[0, 0]:
            updates[table] = _score(view, lines)
        return updates

    outputs = [*slow.outputs, chart, said]
    slow.wire(page, [chart, said], [way])
    page.on([way.input], show_chart, outputs, [way])
    page.on([score.click, lines.submit], lambda view, lines: {table: _score(view, lines)}, [table], [lines], **TRAINING)
    return Part("Every position", column, show, [*outputs, table], [way, lines, table])


def _score(view: View, lines: str) -> pd.DataFrame:
    """The sentences, the likeliest by piece first."""
    from explorer.base.steps import finished
    from explorer.techniques.pseudo_likelihood import pseudo_likelihoods_in_steps

    sentences = [line.strip() for line in str(lines or "").splitlines() if line.strip()]
    if not 1 <= len(sentences) <= MOST_LINES:
        raise InputError(f"Type 1 to {MOST_LINES} sentences, one a line; there are {len(sentences)}.")
    scores = finished(pseudo_likelihoods_in_steps(view.model, sentences))
    pieces = [len(view.model.visible_positions(view.model.encode(sentence))) for sentence in sentences]
    rows = [
        [sentence, count, round(score, 2), round(score / count, 3)]
        for sentence, count, score in zip(sentences, pieces, scores, strict=True)
    ]
    return pd.DataFrame(sorted(rows, key=lambda row: -row[3]), columns=COLUMNS)
