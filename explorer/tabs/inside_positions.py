"""Inside a head, fourth view: how the model knows where a token stands."""

import gradio as gr
import numpy as np

from explorer.analysis.positions import sinusoids
from explorer.analysis.similarity import cosine_matrix
from explorer.figures.attention import position_similarity, vectors_heatmap
from explorer.page.components import PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part

MOST_POSITIONS = 128


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False, elem_classes="part") as body:
        said = gr.Markdown(elem_classes="caption", elem_id="positions-said")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=1, min_width=320):
                gr.Markdown("**Learned**, as in this model (Devlin et al. 2019)", elem_classes="detail-title")
                learned = PlotlyChart(height=300, label="Learned position vectors", elem_id="learned")
                alike = PlotlyChart(height=360, label="Cosine between learned positions", elem_id="learned-alike")
            with gr.Column(scale=1, min_width=320):
                gr.Markdown("**Sinusoids** of the same size (Vaswani et al. 2017)", elem_classes="detail-title")
                waves = PlotlyChart(height=300, label="Sinusoidal position vectors", elem_id="waves")
                waves_alike = PlotlyChart(height=360, label="Cosine between sinusoids", elem_id="waves-alike")

    def show(view: View) -> Updates:
        table = view.model.position_table  # [positions, hidden]
        step = -(-len(table) // MOST_POSITIONS)
        positions = np.arange(0, len(table), step)
        formula = sinusoids(*table.shape)[positions]
        every = "" if step == 1 else f" Every {step}th position is drawn."
        return {
            said: (
                "Attention by itself does not know word order: a vector for its place is added to every token. Top: the "
                f"{len(table)} vectors of {table.shape[1]} numbers (purple above 0, orange below). Bottom: the cosine between "
                f"every two of them (−1 to 1); a strong diagonal means that neighbours are alike.{every}"
            ),
            learned: vectors_heatmap(table[positions], positions, "learned"),
            alike: position_similarity(cosine_matrix(table[positions]), positions, "learned-alike"),
            waves: vectors_heatmap(formula, positions, "waves"),
            waves_alike: position_similarity(cosine_matrix(formula), positions, "waves-alike"),
        }

    return Part(body, show, [said, learned, alike, waves, waves_alike], [])
