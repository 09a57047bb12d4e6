"""Metrics of all heads."""

from collections import Counter
from typing import Any

import numpy as np

from explorer.analysis.head_metrics import METRICS, PATTERN_RULE, PATTERN_SOURCE, Overview
from explorer.attention.pictures import metric_heatmap
from explorer.text import limits
from explorer.ui.attention_data import heads_table, most_telling_first, overview_of, prepare_effects
from explorer.ui.pictures.bars import SEEN
from explorer.ui.pictures.numbers import identifier, keep
from explorer.ui.pictures.strip_table import Column, Row, strip_table
from explorer.ui.settings import choice
from explorer.ui.subject import Subject, head_name
from explorer.ui.telling import two_places
from explorer.ui.view import Change, Content, Finding, View, Why, caption, chart, part, prose, select

HIGH = {
    "entropy": "spreads its weight most evenly",
    "distance": "looks furthest away",
    "confidence": "puts most weight on one word",
    "cls": "gives [CLS] most weight",
    "sep": "gives [SEP] most weight",
    "self": "gives a token most of its own weight",
    "previous": "looks most at the token before",
    "next": "looks most at the token after",
    "same_token": "looks most at the same word elsewhere",
    "ahead": "looks ahead most",
}
"""What the head with the highest number does, by the number's key."""
BY_KEY = {metric.key: metric for metric in METRICS}
COLUMNS = [
    Column("layer, head", "name", name="head"),
    Column("pattern", "text"),
    *(Column(metric.short, "number", form=".2f", name=identifier(metric.label)) for metric in METRICS),
]
FORMULAS = "\n".join(
    [
        "| number | formula | range | source |",
        "|---|---|---|---|",
        *(f"| {metric.label} | {metric.formula} | {metric.range} | {metric.source} |" for metric in METRICS),
    ]
).replace("|i − j|", "abs(i − j)")


class HeadNumbers(View):
    """One metric of all heads as a heatmap."""

    name, question = "attention/metric", "How do the heads differ?"
    width = 4
    heatmap = chart("A number for every head", height=390)
    metric: str = choice([(metric.label, metric.key) for metric in METRICS], "Measure", menu=True, elem_classes="inline")
    formula = prose(classes="caption")

    first, prepare_rest = staticmethod(most_telling_first), staticmethod(prepare_effects)

    def compute(self, subject: Subject) -> Content:
        seen, chosen = overview_of(subject), BY_KEY[self.metric]
        selected = (subject.selection.attention_layer, subject.selection.head_index)
        values = seen.metrics[self.metric]
        figure = metric_heatmap(values, seen.patterns, chosen.label, selected, self.metric != "distance")
        formula = f"**{chosen.label}**, {chosen.range}: {chosen.formula} ({chosen.source})."
        return {"heatmap": figure, "formula": formula}

    def finding(self, subject: Subject) -> Finding:
        seen, metric = overview_of(subject), BY_KEY[self.metric]
        values = seen.metrics[self.metric]
        layer, head = (int(place) for place in np.unravel_index(int(values.argmax()), values.shape))
        pattern, count = Counter(seen.patterns.ravel().tolist()).most_common(1)[0]
        heads = seen.patterns.size
        common = f"The most common pattern is ‘{pattern}’, in {f'all {heads}' if count == heads else f'{count} of {heads}'} heads"
        if float(np.ptp(values)) < SEEN:
            return Finding(f"{common}. Their values of ‘{metric.label}’ hardly differ ({two_places(float(values.max()))}).")
        highest = f"{head_name((layer, head)).capitalize()} {HIGH[metric.key]} ({metric.label} {values[layer, head]:.2f})"
        return Finding(f"{highest}. {common}.", Why("attention", "One head", {"layer": layer + 1, "head": head + 1}))

    def on_heatmap(self, subject: Subject, index: list[int]) -> Change:
        """Select another head: [layer, head], zero-based."""
        layer, head = limits.check_cell(index)
        return select(layer=layer + 1, head=head + 1)


class HeadTable(View):
    """All metrics of all heads in a table."""

    name, question = "attention/metrics", "Which numbers describe each head?"
    width, fold = 10, "Formulas"
    table = part("strips", classes="compact", height=480, sortable=True, marks=True)
    help = caption(
        "Every head on this input. Click a column's name to sort by that number. Click a head, or a cell of the heatmap, to "
        f"choose that head. Pattern: {PATTERN_RULE} ({PATTERN_SOURCE})."
    )
    formulas = caption(FORMULAS, classes="formulas", more=True)

    def compute(self, subject: Subject) -> Content:
        return {"table": lambda: _table(overview_of(subject))}

    def on_table(self, subject: Subject, index: int) -> Change:
        """Select another head by its index among all, layer by layer."""
        layer, head = divmod(limits.check_place(index), subject.model.capabilities.heads)
        return select(layer=layer + 1, head=head + 1)


def _table(seen: Overview) -> dict[str, Any]:
    layers, heads = seen.patterns.shape

    def row(layer: int, head: int) -> Row:
        numbers = [seen.metrics[metric.key][layer, head] for metric in METRICS]
        return Row([f"{layer + 1}, {head + 1}", seen.patterns[layer, head], *numbers], token=layer * heads + head)

    rows = [row(layer, head) for layer in range(layers) for head in range(heads)]
    return keep(strip_table(COLUMNS, rows, "every head by numbers"), lambda: heads_table(seen))
