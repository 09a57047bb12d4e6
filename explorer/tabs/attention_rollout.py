"""Attention, third view: how information flows through all layers."""

import gradio as gr
import numpy as np

from explorer.analysis.attention import rows_error
from explorer.analysis.rollout import rollout
from explorer.figures.attention import sources_heatmap, weights_heatmap
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part, default_token, told, verdict


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False, elem_classes="part") as body:
        up_to = gr.Slider(1, 6, value=6, step=1, label="From layer 1 up to layer", elem_id="rollout-layer")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=1, min_width=320):
                matrix = PlotlyChart(height=460, label="Attention rollout", elem_id="rollout-matrix")
                gr.Markdown(
                    "Attention rollout (Abnar & Zuidema 2020): row i says how much each input token contributed to token i "
                    "after this layer, if information only flowed as attention says. The product of 0.5 · (mean over heads) "
                    "+ 0.5 · I, newer layers from the left; I stands for the residual connection. √ scale; rows sum to 1.",
                    elem_classes="caption",
                )
            with gr.Column(scale=1, min_width=320):
                sources = PlotlyChart(height=460, label="Where one token comes from", elem_id="rollout-sources")
                said = Notice(elem_id="rollout-said")
                check = Notice(elem_classes="check")

    def show(view: View, layer: int) -> Updates:
        layers = view.model.capabilities.layers
        layer = min(int(layer), layers)
        trace = view.trace
        token = default_token(view)
        error, rows = 0.0, []
        for number, flow in enumerate(rollout(trace.attention(index) for index in range(layers)), start=1):
            error = max(error, rows_error(flow))
            rows.append(flow[token])
            if number == layer:
                wanted = flow
        return {
            up_to: gr.Slider(maximum=layers, value=layer),
            matrix: weights_heatmap(wanted, trace.tokens, trace.tokens, square_root=True, unit="share", row=token),
            sources: sources_heatmap(np.stack(rows), trace.tokens),
            said: f"Where '{trace.tokens[token]}' (token {token}) comes from, layer by layer; click a token above for another.",
            check: verdict(error < 1e-5, f"rows sum to 1 ({told(error)}), from the same weights as in 'One head'"),
        }

    outputs = [up_to, matrix, sources, said, check]
    page.on([up_to.input], show, outputs, [up_to])
    return Part(body, show, outputs, [up_to])
