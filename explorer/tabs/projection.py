"""Projection: where words or sentences lie in the space of a layer."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from explorer.analysis.projection import METRICS
from explorer.base.errors import ExplorerError
from explorer.base.paths import EXAMPLES
from explorer.page.components import Meter, Notice, PlotlyChart, Ranking
from explorer.page.wiring import Page, Updates, View, typed_in
from explorer.tabs.projection_data import (
    FILE,
    SENTENCES,
    VOCABULARY,
    WORDS,
    text_column_of,
    too_many,
)
from explorer.tabs.projection_drawing import METHODS, draw_in_steps, play_in_steps
from explorer.tabs.projection_picture import COLOURS, LABEL, NONE_CHOSEN
from explorer.text.limits import MAX_TEXTS
from explorer.text.lines import NO_LABEL
from explorer.text.tables import read_rows

POOLED = [("mean of all tokens", "mean"), ("[CLS]", "cls"), ("pooler (last layer)", "pooler")]
MAPPING = {"concurrency_id": "projection", "concurrency_limit": 2}  # a fit of UMAP must not hold up the other tabs


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("projection", "Projection", "What lies close to what?") as tab:
        parts = _build_parts()
    _wire(page, tab, parts)


def _build_parts() -> dict[str, Any]:
    """The components, by name."""
    states = {"rows": [], "picked": NONE_CHOSEN, "kept": NONE_CHOSEN, "key": "", "wanted": None}
    c: dict[str, Any] = {name: gr.State(value) for name, value in states.items()}
    with gr.Row(elem_classes="controls"):
        sources = [SENTENCES, WORDS, FILE, VOCABULARY]
        c["source"] = gr.Radio(sources, value=SENTENCES, label="Points", elem_id="projection-source")
        c["method"] = gr.Radio(list(METHODS), value="PCA", label="Map", elem_id="projection-method")
        c["layer"] = gr.Slider(0, 6, value=6, step=1, label="Hidden state (0: embeddings)", elem_id="projection-layer")
    with gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=7, min_width=320):
            c["chart"] = PlotlyChart(
                height=520, label="Map of words or sentences", with_lasso=True, elem_id="projection-map"
            )
            with gr.Row(elem_classes="controls"):
                c["play"] = gr.Button("▶ Play the layers", size="sm", elem_id="projection-play")
                c["cancel"] = gr.Button("Stop", size="sm", elem_id="projection-cancel")
            c["meter"] = Meter(elem_id="projection-meter")
            c["said"] = Notice(elem_classes="caption", elem_id="projection-said")
        with gr.Column(scale=4, min_width=300):
            _build_side(c)
    return c


def _build_side(c: dict[str, Any]) -> None:
    """What the points are, the search, the list of neighbours, and what is rarely changed."""
    c["sentences"] = gr.Textbox(
        value=(EXAMPLES / "topics.txt").read_text("utf-8").strip(),
        lines=7,
        max_lines=7,
        label="Sentences, one a line; a label may follow after\u00a0|",
        elem_id="projection-sentences",
    )
    c["redraw"] = gr.Button("Draw", size="sm", elem_id="projection-draw")
    c["upload"] = gr.UploadButton(CHOOSE, file_types=[".csv"], size="sm", elem_id="projection-upload", visible=False)
    c["sampled"] = gr.Checkbox(
        False, label=f"A random {MAX_TEXTS:,} of the rows", visible=False, elem_id="projection-sampled"
    )
    with gr.Row():
        c["text_column"] = gr.Dropdown([], label="Text column", visible=False, elem_id="text-column")
        c["label_column"] = gr.Dropdown([], label="Label column", visible=False, elem_id="label-column")
    c["search"] = gr.Textbox(label="Search", placeholder="Points that hold this stand out", elem_id="projection-search")
    c["listed"] = Ranking(elem_id="projection-neighbors")
    c["hint"] = gr.Markdown(HINT, elem_classes="caption")
    c["forget"] = gr.Button("Show all again", size="sm", visible=False, elem_id="projection-forget")
    with gr.Accordion("More", open=False):
        c["colour"] = gr.Dropdown(list(COLOURS), value=LABEL, label="Colour by", elem_id="projection-colour")
        c["clusters"] = gr.Slider(2, 8, value=4, step=1, label="Clusters (k-means on directions)")
        c["dimensions"] = gr.Radio(["2-D", "3-D"], value="2-D", label="Space", elem_id="projection-space")
        c["pooling"] = gr.Dropdown(
            POOLED, value="mean", label="One vector for a sentence", elem_id="projection-pooling"
        )
        c["neighbors"] = gr.Slider(
            2, 100, value=15, step=1, label="Neighbours (UMAP's n_neighbors; t-SNE's perplexity × 3)"
        )
        c["min_dist"] = gr.Slider(0, 0.99, value=0.1, step=0.01, label="Least distance (UMAP's min_dist)")
        c["metric"] = gr.Dropdown(list(METRICS), value=METRICS[0], label="Distance of UMAP and t-SNE")
        c["seed"] = gr.Number(0, precision=0, label="Seed", elem_id="projection-seed")


CHOOSE = "CSV file…"
HINT = "Click a point for its neighbours; the lasso at the top right of the map takes a set."
CONTROLS = (
    "source",
    "method",
    "layer",
    "sentences",
    "rows",
    "text_column",
    "label_column",
    "sampled",
    "search",
    "colour",
    "clusters",
    "dimensions",
    "pooling",
    "neighbors",
    "min_dist",
    "metric",
    "seed",
    "picked",
    "kept",
)
DRAWN = ("chart", "said", "meter", "listed", "forget", "hint", "layer", "key")


def _wire(page: Page, tab: Any, c: dict[str, Any]) -> None:
    controls, drawn = [c[name] for name in CONTROLS], [c[name] for name in DRAWN]

    def named(handler: Callable) -> Callable:
        """A handler of (view, settings by name), as `page.on` calls it."""

        def run(view: View, *values: Any) -> Iterator[Updates]:
            try:
                for updates in handler(view, dict(zip(CONTROLS, values, strict=True))):
                    yield {c[name]: value for name, value in updates.items()}
            except ExplorerError:
                yield {c["meter"]: None}
                raise

        return run

    def show(view: View, source: str, layer: int) -> Updates:
        most = view.model.capabilities.layers
        texts = (view.text_a, view.text_b) if source == WORDS else ()
        slider = gr.Slider(maximum=most, value=min(int(layer), most))
        return {c["wanted"]: (view.model_name, source, *texts), c["layer"]: slider}

    tab.shows(show, [c["wanted"], c["layer"]], [c["source"], c["layer"]])
    draw = named(draw_in_steps)

    def draw_wanted(view: View, wanted: tuple[str, ...] | None, *values: Any) -> Iterator[Updates]:
        if wanted:
            yield from draw(view, *values)
        else:  # a page that has just been opened says `change` too, whichever tab it shows
            yield {c["meter"]: None}

    heavy = [c[name].input for name in ("method", "dimensions", "pooling", "metric", "label_column", "sampled")]
    heavy += [c[name].release for name in ("neighbors", "min_dist", "clusters")]
    heavy += [c["seed"].submit, c["redraw"].click, c["text_column"].input, c["colour"].input]
    running = [
        page.on([c["wanted"].change], draw_wanted, drawn, [c["wanted"], *controls], **MAPPING),
        page.on(heavy, draw, drawn, controls, **MAPPING),
        page.on([c["layer"].input], draw, drawn, controls, **MAPPING),
        page.on([c["search"].change], draw, drawn, controls, **typed_in(c["search"]), **MAPPING),
        page.on([c["play"].click], named(play_in_steps), drawn, controls, **MAPPING),
    ]
    fields = [c[name] for name in FIELDS]
    shown = page.run([c["source"].input], _named(c, _fields), fields, [c["source"], c["rows"]], queue=False)
    opened = page.run([c["upload"].upload], _named(c, _open), [*fields, c["source"], c["rows"]], [c["upload"]])
    chosen = [
        page.run([c["chart"].select], _named(c, _pick), [c["picked"]], [c["key"]], queue=False),
        page.run([c["listed"].select], _named(c, _pick), [c["picked"]], [c["key"]], queue=False),
        page.run(c["chart"].lasso, _named(c, _keep), [c["picked"], c["kept"]], [c["key"]], queue=False),
        page.run([c["forget"].click], _named(c, _forget), [c["picked"], c["kept"], c["search"]], queue=False),
    ]
    running += [page.on(event.success, draw, drawn, controls, **MAPPING) for event in (shown, opened, *chosen)]
    stopped = c["cancel"].click(None, cancels=running, api_visibility="private")
    # After it, not with it: what the work had said before it stopped is still on its way.
    page.run(stopped.then, lambda: {c["meter"]: None}, [c["meter"]])


def _named(c: dict[str, Any], handler: Callable[..., dict[str, Any]]) -> Callable[..., Updates]:
    """A handler whose updates go by the names of the components, as Gradio calls it."""

    @functools.wraps(handler)
    def run(*arguments: Any) -> Updates:
        return {c[name]: value for name, value in handler(*arguments).items()}

    return run


FIELDS = ("sentences", "redraw", "upload", "sampled", "text_column", "label_column", "pooling")


def _fields(source: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    """Which fields a source needs."""
    with_file = source == FILE and bool(rows)
    return {
        "sentences": gr.update(visible=source == SENTENCES),
        "redraw": gr.update(visible=source == SENTENCES),
        "upload": gr.update(visible=source == FILE),
        "sampled": gr.update(visible=with_file and too_many(rows)),
        "text_column": gr.update(visible=with_file),
        "label_column": gr.update(visible=with_file),
        "pooling": gr.update(visible=source in (SENTENCES, FILE)),
    }


def _open(path: str) -> dict[str, Any]:
    """The rows of a CSV file, and its columns to choose from."""
    rows = read_rows(Path(path))
    names = list(rows[0])
    label = "label" if "label" in names else None
    size = f"{len(rows):,} row{'s' * (len(rows) != 1)}"
    return {
        **_fields(FILE, rows),
        "upload": gr.update(label=f"{CHOOSE} ({Path(path).name[:40]}: {size})", visible=True),
        "rows": rows,
        "source": FILE,
        "sampled": gr.update(value=False, visible=too_many(rows), label=f"A random {MAX_TEXTS:,} of the {size}"),
        "text_column": gr.update(choices=names, value=text_column_of(rows), visible=True),
        "label_column": gr.update(choices=[(NO_LABEL, None), *names], value=label, visible=True),
    }


def _pick(event: gr.SelectData, key: str) -> dict[str, Any]:
    """The point that was clicked on the map (its row is in customdata), or its text in the list (its row is the index)."""
    row = getattr(event, "customdata", None)
    return {"picked": ((int(event.index if row is None else row),), key)}


def _keep(event: gr.SelectData, key: str) -> dict[str, Any]:
    return {"picked": NONE_CHOSEN, "kept": (tuple(int(row) for row in event.index), key)}


def _forget() -> dict[str, Any]:
    return {"picked": NONE_CHOSEN, "kept": NONE_CHOSEN, "search": ""}
