"""Hidden states, seen layer by layer: the vectors of one layer, and what every layer does to every token."""

import gradio as gr
import numpy as np

from explorer.analysis import contextuality
from explorer.analysis.similarity import cosine_matrix, cosines, mean_of_pairs, norms
from explorer.figures.heatmaps import similarity_heatmap
from explorer.figures.hidden import by_layer_heatmap, pooled_heatmap, vectors_heatmap
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.hidden_piece import Piece, layer_name

SIMILARITY, VECTORS = "Similarity", "All dimensions"
STEP, DRIFT, NORM = "Change per layer", "Away from the embedding", "Norm"


def build(page: Page) -> Piece:
    """Make the view."""
    with gr.Column() as column:
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=1, min_width=320):
                look = gr.Radio(
                    [SIMILARITY, VECTORS], value=SIMILARITY, show_label=False, container=False, elem_id="hidden-picture"
                )
                picture = PlotlyChart(height=440, label="The tokens at one hidden state", elem_id="similarity")
                said = gr.Markdown(elem_classes="caption")
            with gr.Column(scale=1, min_width=320):
                measure = gr.Radio(
                    [STEP, DRIFT, NORM], value=STEP, show_label=False, container=False, elem_id="hidden-measure"
                )
                by_layer = PlotlyChart(height=440, label="Every token at every hidden state", elem_id="by-layer")
                meaning = gr.Markdown(elem_classes="caption")
        with gr.Accordion("More: [CLS] and the pooled output", open=False):
            pooled = PlotlyChart(height=190, label="[CLS] and the pooled output", elem_id="pooled")
            formula = gr.Markdown(elem_classes="caption")
            check = Notice(elem_classes="check")

    def show(view: View, look: str, measure: str) -> Updates:
        return {
            **show_layer(view, look),
            **show_measure(view, measure),
            **_pooled(view, pooled, formula, check),
        }

    def show_layer(view: View, look: str) -> Updates:
        at = view.selection.layer
        vectors, tokens = view.trace.hidden_states[at], view.trace.tokens
        if look == VECTORS:
            chart = vectors_heatmap(vectors, tokens, contextuality.robust_range(vectors))
            return {picture: chart, said: _outliers(vectors, at)}
        return {picture: similarity_heatmap(cosine_matrix(vectors), tokens), said: _baseline(view, vectors, at)}

    def show_measure(view: View, measure: str) -> Updates:
        states, tokens = view.trace.hidden_states, view.trace.tokens
        values, first, name = {
            STEP: (contextuality.steps(states), 1, "1 − cosine"),
            DRIFT: (contextuality.drift(states), 1, "1 − cosine"),
            NORM: (norms(states), 0, "norm"),
        }[measure]
        return {by_layer: by_layer_heatmap(values, tokens, first, name), meaning: MEANINGS[measure]}

    page.on([look.input], show_layer, [picture, said], [look])
    page.on([measure.input], show_measure, [by_layer, meaning], [measure])
    outputs = [picture, said, by_layer, meaning, pooled, formula, check]
    return Piece(column, [look, measure], outputs, show, lambda view, look, measure: show_layer(view, look))


MEANINGS = {
    STEP: (
        "1 − cosine between a token's vector and the one a layer earlier (0 to 2): how much each layer turns it. "
        "Row 1 compares layer 1 with the embeddings."
    ),
    DRIFT: "1 − cosine between a token's vector and its own embedding, hidden state 0 (0 to 2): what context has made of it.",
    NORM: (
        "The Euclidean length of every token's vector at every hidden state. Where one token stands out, "
        "a few dimensions have grown large."
    ),
}


def _baseline(view: View, vectors: np.ndarray, at: int) -> str:
    from explorer.model import reference  # loads torch

    random = contextuality.anisotropy(reference.tokens(view.model)[[at]])[0]
    here = mean_of_pairs(cosine_matrix(vectors))
    return (
        f"Cosine between the vectors of every two tokens in {layer_name(at)} (−1 to 1); their mean here is {here:.2f}. "
        f"Tokens of {reference.NUMBER} unrelated sentences have **{random:.2f}** in common already (the layer's "
        "anisotropy, Ethayarajh 2019): only what lies above that says something."
    )


def _outliers(vectors: np.ndarray, at: int) -> str:
    found = contextuality.outlier_dimensions(vectors)
    named = ", ".join(f"**{dimension}** (mean {value:+.1f})" for dimension, value in found) or "none"
    return (
        f"All {vectors.shape[1]} dimensions of every token in {layer_name(at)}. Colours end where 99 % of the values do. "
        f"Outlier dimensions, counted from 0, whose mean over the tokens is more than "
        f"{contextuality.OUTLIER_DEVIATIONS} standard deviations off (Kovaleva et al. 2021): {named}."
    )


def _pooled(view: View, chart: PlotlyChart, formula: gr.Markdown, check: Notice) -> Updates:
    if not view.model.capabilities.pooler:
        return {chart: None, formula: f"{view.model_name} has no pooler.", check: ""}
    last = view.trace.hidden_states[-1, 0]
    vector, (weight, bias) = view.trace.pooler_output(), view.model.pooler_weights
    error = float(np.abs(np.tanh(weight @ last + bias) - vector).max())
    size = len(last)
    text = (
        f"pooled = tanh(W · h + b): h is the last hidden state of [CLS], W is {size} × {size}. Some tutorials call this a "
        "layer normalisation; it is a dense layer and a tanh, which brings every value between −1 and 1. It was trained "
        f"for next-sentence prediction, not as a summary. Cosine between the two: {cosines(last, vector):.2f}; "
        f"{(np.abs(vector) > 0.95).mean():.0%} of the pooled values lie beyond ±0.95."
    )
    fine = error < 1e-4
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    result = {"text": f"{mark}: this formula against the model's pooler, max error {error:.0e}."}
    return {
        chart: pooled_heatmap(last, vector),
        formula: text,
        check: {**result, "kind": "info" if fine else "error"},
    }
