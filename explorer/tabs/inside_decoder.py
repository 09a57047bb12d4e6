"""Inside a head, third view: the same head under the mask of a decoder."""

import gradio as gr
import numpy as np

from explorer.analysis.attention import renormalised
from explorer.figures.attention import weights_heatmap
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part, told, verdict


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False, elem_classes="part") as body:
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=1, min_width=320):
                gr.Markdown("**As BERT has it**: every token looks both ways.", elem_classes="detail-title")
                both = PlotlyChart(height=440, label="Attention, both ways", elem_id="both-ways")
            with gr.Column(scale=1, min_width=320):
                gr.Markdown("**With a causal mask**: no token looks ahead.", elem_classes="detail-title")
                causal = PlotlyChart(height=440, label="Attention, causal", elem_id="causal")
        gr.Markdown(
            "GPT is a decoder: it is trained to write the next token, so each token may look at itself and at what came "
            "before, and never ahead. The scores above the diagonal are set to −∞ before the softmax, and each row shares "
            "its weight of 1 among what is left; the first token can only look at itself. BERT is trained to fill blanks, "
            "where the words after the blank matter as much as those before it. Same scores, √ scale, rows sum to 1.",
            elem_classes="caption",
        )
        check = Notice(elem_classes="check", elem_id="decoder-check")

    def show(view: View) -> Updates:
        from explorer.techniques.inside import causal_attention  # loads torch

        trace, layer, head = view.trace, view.selection.attention_layer, view.selection.head - 1
        before = trace.attention(layer)[head]
        after = causal_attention(trace, layer, head)
        error = float(np.abs(after - renormalised(np.tril(before))).max())
        names, row = trace.tokens, view.selection.token
        top = float(max(before.max(), after.max()))

        def figure(weights: np.ndarray) -> object:
            return weights_heatmap(weights, names, names, square_root=True, row=row, top=top)

        said = f"masked weights are the model's own, renormalised over the tokens before ({told(error)})"
        return {both: figure(before), causal: figure(after), check: verdict(error < 1e-5, said)}

    return Part(body, show, [both, causal, check], [])
