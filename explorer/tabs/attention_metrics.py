"""Attention, second view: a number for every head."""

from typing import Any

import gradio as gr

from explorer.analysis.head_metrics import METRICS, PATTERN_RULE, PATTERN_SOURCE
from explorer.analysis.overview import Overview
from explorer.figures.attention import metric_heatmap
from explorer.page.components import Column, PlotlyChart, Row, StripTable
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part, overview_of

BY_KEY = {metric.key: metric for metric in METRICS}
COLUMNS = [Column("head", "name"), Column("pattern", "text"), *(Column(metric.label, "number") for metric in METRICS)]


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False, elem_classes="part") as body:
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=320):
                metric = gr.Dropdown(
                    [(metric.label, metric.key) for metric in METRICS],
                    value="entropy",
                    label="Number",
                    elem_id="metric",
                )
                chart = PlotlyChart(height=420, label="A number for every head", elem_id="metric-heatmap")
                formula = gr.Markdown(elem_classes="caption", elem_id="metric-formula")
            with gr.Column(scale=6, min_width=320):
                table = StripTable(height=480, sortable=True, elem_id="metric-table")
                gr.Markdown(
                    "Every head on this input. Click a column's name to sort by it, a head or a cell of the heatmap to "
                    f"choose that head. Pattern: {PATTERN_RULE} ({PATTERN_SOURCE}).",
                    elem_classes="caption",
                )
        with gr.Accordion("Every number: formula, range and source", open=False):
            gr.Markdown(_legend())

    def show_chart(view: View, key: str) -> Updates:
        seen, chosen = overview_of(view), BY_KEY[key]
        selected = (view.selection.attention_layer, view.selection.head - 1)
        figure = metric_heatmap(seen.metrics[key], seen.patterns, chosen.label, selected, key != "distance")
        return {
            chart: figure,
            formula: f"**{chosen.label}**: {chosen.formula}; {chosen.range}. {chosen.source}.",
        }

    def show(view: View, key: str) -> Updates:
        return {table: _table(overview_of(view)), **show_chart(view, key)}

    def pick(view: View, index: list[int], key: str) -> Updates:
        view = page.reselect(view, layer=index[0] + 1, head=index[1] + 1)
        return {page.selection: view.selection, **show_chart(view, key)}

    def pick_row(view: View, index: int, key: str) -> Updates:
        return pick(view, list(divmod(int(index), view.model.capabilities.heads)), key)

    page.on([metric.input], show_chart, [chart, formula], [metric])
    page.on_pick([chart.select], pick, [page.selection, chart, formula], [metric])
    page.on_pick([table.select], pick_row, [page.selection, chart, formula], [metric])
    return Part(body, show, [table, chart, formula], [metric])


def _table(seen: Overview) -> dict[str, Any]:
    layers, heads = seen.patterns.shape

    def row(layer: int, head: int) -> Row:
        numbers = [f"{seen.metrics[metric.key][layer, head]:.3f}" for metric in METRICS]
        name = f"layer {layer + 1}, head {head + 1}"
        return Row([name, seen.patterns[layer, head], *numbers], token=layer * heads + head)

    rows = [row(layer, head) for layer in range(layers) for head in range(heads)]
    return StripTable.pack(COLUMNS, rows, "every head by numbers")


def _legend() -> str:
    rows = [f"| {metric.label} | {metric.formula} | {metric.range} | {metric.source} |" for metric in METRICS]
    return "\n".join(["| number | formula | range | source |", "|---|---|---|---|", *rows]).replace(
        "|i − j|", "abs(i − j)"
    )
