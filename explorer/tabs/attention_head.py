"""Attention, first view: the grid of all heads, and one of them in full."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.attention import DIRECTIONS, Choice, Shown, choose, rank_in_row
from explorer.analysis.head_metrics import METRICS
from explorer.figures.attention import weights_heatmap
from explorer.page.components import AttentionLines, HeadGrid, Notice, PlotlyChart
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import (
    AVERAGES,
    LAYER_MEAN,
    MEASURES,
    ONE_HEAD,
    VALUE,
    WEIGHT,
    Part,
    attention_check,
    overview_of,
    weights_of,
)
from explorer.text import limits

HEATMAP, LINES = "Heatmap", "Lines"
SPECIALS = (
    ("All tokens", "all"),
    ("Without [CLS] and [SEP], weights as they are", "hidden"),
    ("Without [CLS] and [SEP], rows renormalised", "renormalised"),
)
NO_MARKS = "nothing"
HEIGHT = 460


@dataclass(frozen=True)
class Settings:
    """The controls of this view, in their order."""

    look: str = HEATMAP
    specials: str = "all"
    square_root: bool = True
    whole_words: bool = False
    direction: str = "all"
    top_p: float = 1.0
    average: str = ONE_HEAD
    measure: str = WEIGHT
    marks: str = NO_MARKS

    def shown(self, view: View) -> Shown:
        """The chosen part of the chosen head."""
        share = limits.check_number(self.top_p, "the share of each row", 0, 100) / 100
        choice = Choice(self.specials, self.direction, self.whole_words, share)
        return choose(weights_of(view, self.average, self.measure), view.trace.encoding, choice)


def build(page: Page) -> Part:
    """Make the view."""
    view = HeadView(page)
    view.listen()
    return Part(view.body, view.show, [view.grid, view.about, *view.detail], view.controls)


class HeadView:
    """The components of this view, and what each handler changes of them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        with gr.Column(elem_classes="part") as self.body, gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=320):
                self.grid = HeadGrid(elem_id="head-grid")
                self.about = gr.Markdown(elem_classes="caption", elem_id="head-about")
            with gr.Column(scale=6, min_width=320):
                self.title = gr.Markdown(elem_classes="detail-title", elem_id="head-title")
                with gr.Row(elem_classes="controls"):
                    look = gr.Radio([HEATMAP, LINES], value=HEATMAP, show_label=False, container=False, elem_id="look")
                    specials = gr.Dropdown(SPECIALS, value="all", show_label=False, container=False, elem_id="specials")
                self.heatmap = PlotlyChart(height=HEIGHT, label="Attention of one head", elem_id="head-heatmap")
                self.lines = AttentionLines(height=HEIGHT, visible=False, elem_id="head-lines")
                self.cell = Notice(keep_height=True, elem_id="head-cell")
                with gr.Accordion("More", open=False, elem_id="attention-more"):
                    more = _more_controls()
                self.check = Notice(elem_classes="check", elem_id="head-check")
        self.controls = [look, specials, *more]
        self.detail = [self.title, self.heatmap, self.lines, self.cell, self.check]

    def listen(self) -> None:
        """Answer to clicks and controls."""
        page, controls = self.page, self.controls
        marks, square_root = controls[-1], controls[2]
        page.on_pick([self.grid.select], self.pick, [page.selection, self.about, *self.detail], controls)
        page.on_pick([self.heatmap.select], self.tell, [self.cell], controls)
        redrawn = [control.input for control in controls if control is not marks]
        page.on(redrawn, self.show_head, self.detail, controls)
        page.on([marks.input, square_root.input], self.show_grid, [self.grid], controls)

    def show(self, view: View, *values: object) -> Updates:
        """Everything."""
        return {**self.show_grid(view, *values), self.about: _about(view), **self.show_head(view, *values)}

    def show_grid(self, view: View, *values: object) -> Updates:
        """The pictures of all heads."""
        return {self.grid: _grid(view, Settings(*values))}

    def show_head(self, view: View, *values: object) -> Updates:
        """The chosen head in full."""
        settings = Settings(*values)
        shown = settings.shown(view)
        updates: Updates = {
            self.title: _title(view, settings),
            self.cell: _hint(settings, shown),
            self.check: attention_check(view, view.selection.attention_layer, settings.measure),
        }
        row = shown.queries.row_of(view.selection.token)
        if settings.look == LINES:
            picture = gr.update(value=_lines(shown, row), visible=True)
            return {**updates, self.lines: picture, self.heatmap: gr.update(visible=False)}
        figure = weights_heatmap(
            shown.weights,
            shown.queries.names,
            shown.keys.names,
            square_root=settings.square_root,
            unit="‖αf(x)‖" if settings.measure == VALUE else "weight",
            row=row,
        )
        return {**updates, self.heatmap: PlotlyChart.shown(figure), self.lines: gr.update(visible=False)}

    def pick(self, view: View, index: list[int], *values: object) -> Updates:
        """Another head was clicked: [layer, head], zero-based."""
        view = self.page.reselect(view, layer=index[0] + 1, head=index[1] + 1)
        return {self.page.selection: view.selection, self.about: _about(view), **self.show_head(view, *values)}

    def tell(self, view: View, index: list[int], *values: object) -> Updates:
        """A cell was clicked: [row, column]."""
        return {self.cell: _told(Settings(*values).shown(view), *index)}


def _more_controls() -> list[gr.components.Component]:
    with gr.Row(elem_classes="controls"):
        square_root = gr.Checkbox(True, label="√ scale", container=False, elem_id="square-root")
        whole_words = gr.Checkbox(False, label="Whole words", container=False, elem_id="whole-words")
    with gr.Row():
        direction = gr.Dropdown(
            [("From any text to any", "all"), *DIRECTIONS[1:]], value="all", label="Direction", elem_id="direction"
        )
        top_p = gr.Slider(
            10, 100, value=100, step=1, label="Strongest edges that hold this share of each row (%)", elem_id="top-p"
        )
    with gr.Row():
        average = gr.Dropdown(AVERAGES, value=ONE_HEAD, label="Weights of", elem_id="average")
        measure = gr.Dropdown(MEASURES, value=WEIGHT, label="Reading of 'how much'", elem_id="measure")
        choices = [(NO_MARKS, NO_MARKS), *((metric.label, metric.key) for metric in METRICS)]
        marks = gr.Dropdown(choices, value=NO_MARKS, label="Bars below the pictures", elem_id="marks")
    gr.Markdown(
        "Whole words: the sum over the pieces that are looked at, the mean over those that look. Weight × value: the "
        "length of what a key really adds, ‖αf(x)‖ with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020); its rows do not "
        "sum to 1. Either way, attention is not explanation: it says where a vector was taken from, not that the "
        "prediction depends on it (Jain & Wallace 2019).",
        elem_classes="caption",
    )
    return [square_root, whole_words, direction, top_p, average, measure, marks]


def _grid(view: View, settings: Settings) -> dict[str, object]:
    seen = overview_of(view)
    marks = None
    if settings.marks != NO_MARKS:
        values = seen.metrics[settings.marks]
        marks = values / max(float(values.max()), 1.0)  # shares as they are, distances relative to the largest
    notes = [
        [f"{name}, entropy {entropy:.2f}, strongest weight {top:.2f}" for name, entropy, top in zip(*row, strict=True)]
        for row in zip(seen.patterns, seen.metrics["entropy"], seen.strongest, strict=True)
    ]
    selected = (view.selection.attention_layer, view.selection.head - 1)
    return HeadGrid.pack(seen.small, selected, settings.square_root, notes=notes, marks=marks)


def _about(view: View) -> str:
    seen, selection = overview_of(view), view.selection
    at = (selection.attention_layer, selection.head - 1)
    numbers = {key: float(values[at]) for key, values in seen.metrics.items()}
    if selection.picked:
        lead = f"Layer {at[0] + 1}, head {at[1] + 1}"
    else:
        lead = (
            f"Shown first: layer {at[0] + 1}, head {at[1] + 1}, because its words look most surely at one other word "
            f"(weight {numbers['word']:.2f} on average, the highest of {seen.patterns.size} heads)"
        )
    return (
        f"{lead}. Pattern: **{seen.patterns[at]}**; entropy {numbers['entropy']:.3f} of 1; mean distance "
        f"{numbers['distance']:.1f} tokens.\n\nOne picture a head: its rows look at its columns, darker (lighter on dark) is "
        "more, each on its own scale. A diagonal is a head that looks at the token itself or at a neighbour, a column "
        "one that all tokens look at. Click one, or use the arrow keys."
    )


def _title(view: View, settings: Settings) -> str:
    layer, head = view.selection.attention_layer + 1, view.selection.head
    named = {
        ONE_HEAD: f"Layer {layer}, head {head}",
        LAYER_MEAN: f"Layer {layer}, mean of its heads",
        AVERAGES[2]: f"Head {head}, mean of all layers",
        AVERAGES[3]: "Mean of all heads of all layers",
    }[settings.average]
    sums = {
        "all": "each row sums to 1",
        "hidden": "weights as they are, so rows sum to less than 1",
        "renormalised": "each row divided by what is left of it",
    }[settings.specials]
    if settings.measure == VALUE:
        sums = "length of what each key adds, from 0 up"
    elif settings.top_p < 100 or settings.direction != "all":
        sums = "only a part of each row is shown"
    return f"**{named}** — row looks at column; {sums}."


def _hint(settings: Settings, shown: Shown) -> str:
    if not shown.weights.size:
        return "There is nothing in this direction: type a text B above."
    return (
        "" if settings.look == LINES else "Click a cell for its exact weight. Click a token above to outline its row."
    )


def _lines(shown: Shown, row: int | None) -> dict[str, object] | None:
    if not shown.weights.size:
        return None
    return AttentionLines.pack(
        shown.weights,
        shown.queries.names,
        shown.queries.kinds,
        row,
        key_tokens=shown.keys.names,
        key_kinds=shown.keys.kinds,
    )


def _told(shown: Shown, row: int, column: int) -> str:
    if not (0 <= row < shown.weights.shape[0] and 0 <= column < shown.weights.shape[1]):
        return ""
    weight, rank = float(shown.weights[row, column]), rank_in_row(shown.weights, row, column)
    query, key = shown.queries, shown.keys
    places = f"{query.names[row]} (token {query.groups[row][0]}) → {key.names[column]} (token {key.groups[column][0]})"
    return f"{places}: {weight:.6f}, number {rank} of {len(key.names)} in its row."
