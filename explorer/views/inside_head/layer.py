"""Every step from one hidden state to the next."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.figures.strip_table import Column, Row, strip_table
from explorer.views.subject import Subject
from explorer.views.view import Shown, View, caption, check, matches, part, sentence

if TYPE_CHECKING:
    from explorer.techniques.inside import Step

COLUMNS = [
    Column("step", "name"),
    Column("formula", "text"),
    Column("shape", "text"),
    Column("of this token", "strip"),
    Column("norm", "number"),
]


class WholeLayer(View):
    """One token followed through one layer."""

    name, question = "inside-head/layer", "What happens to a token in a layer?"
    about = sentence()
    table = part("strips")
    check = check()
    help = caption(
        "One token followed through one layer (Devlin et al. 2019; Vaswani et al. 2017, section 3.1). Each strip is on "
        "its own scale, blue above 0, orange below; the norm is its Euclidean length. The outline marks what the "
        "chosen head contributes. The feed-forward part works on each token by itself: only attention mixes tokens."
    )

    def compute(self, subject: Subject) -> Shown:
        """A row for each step, and whether the last one is the model's own."""
        from explorer.techniques.inside import layer_steps  # loads torch

        trace, token, can = subject.trace, subject.token, subject.model.capabilities
        layer, head = subject.selection.attention_layer, subject.selection.head_index
        inside = layer_steps(trace, layer, token, head)
        rows = [_row(step, head, can.hidden_size // can.heads) for step in inside.steps]
        return {
            "about": (
                f"'{trace.tokens[token]}' (token {token}) on its way through layer {layer + 1}, from hidden state {layer} "
                f"to hidden state {layer + 1}; shapes are for all {trace.kept} tokens. Click a token above for another."
            ),
            "table": strip_table(COLUMNS, rows, "every step inside the layer"),
            "check": matches(inside.max_error, f"the last step is the model's own hidden state {layer + 1} for all tokens", 1e-4),
        }


def _row(step: "Step", head: int, size: int) -> Row:
    """One step; where all heads stand side by side the part of the zero-based `head`, `size` numbers, is outlined."""
    name = f"{step.name} (head {head + 1})" if step.of_head else step.name
    shape, norm = " × ".join(map(str, step.shape)), f"{np.linalg.norm(step.vector):.2f}"
    marked = (head * size, (head + 1) * size) if step.name == "heads side by side" else None
    strong = step.name.startswith("hidden state")
    return Row([name, step.formula, shape, step.vector, norm], strong=strong, marked=marked)
