"""Inside a head, second view: every step from one hidden state to the next."""

from typing import TYPE_CHECKING

import gradio as gr
import numpy as np

from explorer.page.components import Column, Notice, Row, StripTable
from explorer.page.wiring import Page, Updates, View
from explorer.tabs.attention_data import Part, default_token, told, verdict

if TYPE_CHECKING:
    from explorer.techniques.inside import Step

COLUMNS = [
    Column("step", "name"),
    Column("formula", "text"),
    Column("shape", "text"),
    Column("of this token", "strip"),
    Column("norm", "number"),
]


def build(page: Page) -> Part:
    """Make the view."""
    with gr.Column(visible=False, elem_classes="part") as body:
        said = Notice(elem_id="layer-said")
        table = StripTable(elem_id="layer-steps")
        check = Notice(elem_classes="check", elem_id="layer-check")
        gr.Markdown(
            "One token followed through one layer (Devlin et al. 2019; Vaswani et al. 2017, section 3.1). Each strip is on "
            "its own scale, blue above 0, orange below; the norm is its Euclidean length. The outline marks what the "
            "chosen head contributes. The feed-forward part works on each token by itself: only attention mixes tokens.",
            elem_classes="caption",
        )

    def show(view: View) -> Updates:
        from explorer.techniques.inside import layer_steps  # loads torch

        trace, layer, head = view.trace, view.selection.attention_layer, view.selection.head - 1
        token = default_token(view)
        inside = layer_steps(trace, layer, token, head)
        size = view.model.capabilities.hidden_size // view.model.capabilities.heads
        rows = [_row(step, head, size) for step in inside.steps]
        return {
            said: (
                f"'{trace.tokens[token]}' (token {token}) on its way through layer {layer + 1}, from hidden state {layer} to "
                f"hidden state {layer + 1}; shapes are for all {trace.kept} tokens. Click a token above for another."
            ),
            table: StripTable.pack(COLUMNS, rows, "every step inside the layer"),
            check: verdict(
                inside.max_error < 1e-4,
                f"the last step is the model's own hidden state {layer + 1} for all tokens ({told(inside.max_error)})",
            ),
        }

    return Part(body, show, [said, table, check], [])


def _row(step: "Step", head: int, size: int) -> Row:
    """One step; where all heads stand side by side the part of the zero-based `head`, `size` numbers, is outlined."""
    name = f"{step.name} (head {head + 1})" if step.of_head else step.name
    shape, norm = " × ".join(map(str, step.shape)), f"{np.linalg.norm(step.vector):.2f}"
    marked = (head * size, (head + 1) * size) if step.name == "heads side by side" else None
    strong = step.name.startswith("hidden state")
    return Row([name, step.formula, shape, step.vector, norm], strong=strong, marked=marked)
