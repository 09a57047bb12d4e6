"""What the views of attention share: from a View to arrays, the small ones made once and kept with the trace."""

from dataclasses import dataclass

import gradio as gr
import numpy as np

from explorer.analysis.attention import rows_error
from explorer.analysis.head_metrics import TokenFacts
from explorer.analysis.overview import Overview, overview
from explorer.page.wiring import Page, Updates, View

ONE_HEAD, LAYER_MEAN, HEAD_MEAN, ALL_MEAN = (
    "this head",
    "mean of the layer's heads",
    "this head number, mean of all layers",
    "mean of all heads",
)
AVERAGES = (ONE_HEAD, LAYER_MEAN, HEAD_MEAN, ALL_MEAN)
WEIGHT, VALUE = "weight", "weight × value"
MEASURES = (("Attention weight α", WEIGHT), ("Weight × value ‖αf(x)‖", VALUE))


@dataclass(frozen=True)
class Part:
    """One of the views inside a tab: what it needs and how it is brought up to date."""

    body: gr.Column
    show: object  # (view, *controls) -> Updates
    outputs: list[gr.components.Component]
    controls: list[gr.components.Component]


def overview_of(view: View) -> Overview:
    """Pictures, metrics and patterns of all heads on this input."""
    trace = view.trace

    def make() -> Overview:
        layers = (trace.attention(layer) for layer in range(view.model.capabilities.layers))
        return overview(layers, TokenFacts.of(trace.encoding))

    return trace.once("overview", make)


def settled(page: Page, view: View) -> View:
    """The view with a layer and head: those that were picked, or else the most interesting head of this input."""
    if view.chosen.picked:
        return view
    layer, head = overview_of(view).most_interesting
    return page.reselect(view, layer=layer + 1, head=head + 1, picked=False)


def weights_of(view: View, average: str = ONE_HEAD, measure: str = WEIGHT) -> np.ndarray:
    """[query, key] of the chosen head, or the mean over heads, layers or both."""
    layer, head = view.selection.attention_layer, view.selection.head - 1
    layers = range(view.model.capabilities.layers) if average in (HEAD_MEAN, ALL_MEAN) else [layer]
    heads = slice(None) if average in (LAYER_MEAN, ALL_MEAN) else slice(head, head + 1)
    total = np.zeros((view.trace.kept, view.trace.kept), dtype=np.float32)
    for index in layers:
        chosen = view.trace.attention(index)[heads]
        if measure == VALUE:
            from explorer.techniques.inside import value_norms  # loads torch

            chosen = chosen * value_norms(view.trace, index)[heads, None, :]
        total += chosen.mean(axis=0)
    return total / len(layers)


def attention_check(view: View, layer: int, measure: str = WEIGHT) -> dict[str, str]:
    """The line that says whether the weights of a zero-based layer are the ones that the model used."""
    trace = view.trace

    def errors() -> tuple[float, float]:
        return rows_error(trace.attention(layer)), trace.attention_error(layer)

    rows, output = trace.once(("check", layer), errors)
    said = [
        f"rows sum to 1 ({told(rows)})",
        f"these weights give the model's own output of layer {layer + 1} ({told(output)})",
    ]
    fine = rows < 1e-5 and output < 1e-4
    if measure == VALUE:
        from explorer.techniques.inside import value_error

        error = trace.once(("values", layer), lambda: value_error(trace, layer))
        said.append(f"the weighted values of all heads sum to what the layer's attention adds ({told(error)})")
        fine = fine and error < 1e-4
    return verdict(fine, "; ".join(said))


def told(error: float) -> str:
    """A largest error as the check lines say it."""
    return "max error 0" if error == 0 else f"max error {error:.0e}"


def verdict(fine: bool, said: str) -> dict[str, str]:
    """A check as a Notice shows it: red when it failed."""
    mark = "✓ matches the model" if fine else "✗ does not match the model"
    return {"text": f"{mark}: {said}.", "kind": "info" if fine else "error"}


def one_visible(parts: dict[str, Part], chosen: str) -> Updates:
    """Shows the body of the chosen part and hides the others."""
    return {part.body: gr.Column(visible=name == chosen) for name, part in parts.items()}


def default_token(view: View) -> int:
    """The token that was chosen on the page, or else the first [MASK], or else the first word."""
    if view.selection.token is not None:
        return view.selection.token
    return (view.trace.mask_positions or view.trace.encoding.text_positions)[0]
